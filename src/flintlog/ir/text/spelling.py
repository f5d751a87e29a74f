"""How names, texts and constant values are spelled in IR text, and which words have a meaning of their own."""

from __future__ import annotations

import re

from flintlog.types import Adt, Kind, Value

# Operations between their two arguments; every other operation stands in front of its arguments.
INFIX = frozenset({*"+-*/%^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "land", "lor", "lxor"})

# Words before a parenthesis that are not operations.
SPECIAL_FORMS = frozenset({"part", "as", "autoinc", "round"})
# Constants, and the word that may stand before a stratum's first relation: quoted when they are names.
_RESERVED = frozenset({"nil", "inf", "nan", "recursive"})

_PART = "[A-Za-z_?][A-Za-z0-9_?$]*"
PLAIN_NAME = rf"{_PART}(?:\.{_PART})*|\$[0-9][A-Za-z0-9_?]*"
_PLAIN_NAME = re.compile(PLAIN_NAME)

_ESCAPES = {"\n": "n", "\t": "t", "\r": "r"}
_UNESCAPES = {letter: character for character, letter in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))")


def spell_name(name: str, avoid: frozenset[str] = frozenset()) -> str:
    """A name, in backticks if it would not read as one, or is among the words to avoid in its place.

    >>> spell_name("comp.rel"), spell_name("x$3"), spell_name("+magic"), spell_name("nil")
    ('comp.rel', 'x$3', '`+magic`', '`nil`')
    """
    if _PLAIN_NAME.fullmatch(name) and name not in _RESERVED and name not in avoid:
        return name
    return _enclose(name, "`")


def spell_text(text: str) -> str:
    """A text in double quotes, on one line.

    >>> print(spell_text('a "b"\\n'))
    "a \\"b\\"\\n"
    """
    return _enclose(text, '"')


def _enclose(text: str, quote: str) -> str:
    def escape(character: str) -> str:
        if character in (quote, "\\"):
            return "\\" + character
        if character in _ESCAPES:
            return "\\" + _ESCAPES[character]
        # Line separators and lone surrogates would break lines and encodings.
        return character if character.isprintable() else f"\\u{{{ord(character):x}}}"

    return quote + "".join(map(escape, text)) + quote


def read_enclosed(spelled: str) -> str:
    """The text or name between quotes, its escapes resolved."""

    def unescape(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _UNESCAPES.get(found[2], found[2])

    return _ESCAPED.sub(unescape, spelled[1:-1])


def spell_constant(value: Value, kind: Kind) -> str:
    """A constant of a scalar expression.

    >>> spell_constant(2, Kind.UNSIGNED), spell_constant(2, Kind.FLOAT), spell_constant(None, Kind.RECORD)
    ('2u', '2.0', 'nil')
    """
    if isinstance(value, int) and kind is Kind.FLOAT:
        return spell_value(float(value))
    return spell_value(value) + ("u" if kind is Kind.UNSIGNED else "")


def spell_value(value: Value) -> str:
    """A value as it stands in a row.

    >>> spell_value((1, "a", Adt("Leaf", ())))
    '[1, "a", $Leaf()]'
    """
    match value:
        case None:
            return "nil"
        case str():
            return spell_text(value)
        case Adt(branch, args):
            return f"${spell_name(branch)}({', '.join(map(spell_value, args))})"
        case tuple():
            return f"[{', '.join(map(spell_value, value))}]"
        case _:
            return repr(value)

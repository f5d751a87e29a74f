r"""Patterns of `match`: ECMAScript's regular expressions over the bytes of UTF-8, as Soufflé has them, in Python's.

Both sides are compared as Latin-1 text, so that `.` is a byte. What only Python understands is refused.

>>> matches("[[:alpha:]]+", "abc"), matches("..", "é"), matches("(?i)abc", "ABC")
(True, True, None)
"""

from __future__ import annotations

import re
from functools import lru_cache

_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "d": "0-9",
    "alnum": "a-zA-Z0-9",
    "w": "a-zA-Z0-9_",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "s": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "cntrl": r"\x00-\x1f\x7f",
    "graph": "!-~",
    "print": " -~",
}

# What may follow a backslash; other letters have no meaning there, or another one in Python.
_ESCAPES = set("dDwWsSbBtnvfr0xuc")


def matches(pattern: str, text: str) -> bool | None:
    """Whether the whole text matches; None if the pattern is not a regular expression."""
    compiled = _compiled(pattern)
    return None if compiled is None else compiled.fullmatch(_bytes(text)) is not None


def _bytes(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(_translate(_bytes(pattern)), re.ASCII)
    except (re.error, ValueError, OverflowError):
        return None


def _translate(pattern: str) -> str:
    """The pattern in Python's dialect; raises ValueError for what ECMAScript does not know."""
    parts: list[str] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            part, i = _escape(pattern, i)
        elif c == "[":
            part, i = _bracket(pattern, i)
        elif c == "(" and pattern[i + 1 : i + 2] == "?":
            if pattern[i + 2 : i + 3] not in (":", "=", "!"):
                raise ValueError("only (?: (?= and (?! are known")
            part, i = pattern[i : i + 3], i + 3
        elif c in "*+?}" and pattern[i + 1 : i + 2] == "+":
            raise ValueError("nothing to repeat")
        elif c == "{" and pattern[i + 1 : i + 2] == ",":
            raise ValueError("a repetition needs its lower bound")
        elif c == ".":
            part, i = r"[^\n\r]", i + 1
        elif c == "$":
            part, i = r"\Z", i + 1
        else:
            part, i = c, i + 1
        parts.append(part)
    return "".join(parts)


def _escape(pattern: str, i: int) -> tuple[str, int]:
    c = pattern[i + 1 : i + 2]
    if c == "":
        raise ValueError("a backslash at the end")
    if c == "c":
        return re.escape(chr(ord(pattern[i + 2 : i + 3] or "@") % 32)), i + 3
    if c == "0":
        return r"\x00", i + 2
    if c.isalpha() and c not in _ESCAPES:
        raise ValueError(f"unknown escape {c}")
    return "\\" + c, i + 2


def _bracket(pattern: str, i: int) -> tuple[str, int]:
    """A set of characters, from its bracket to the closing one."""
    negated = pattern[i + 1 : i + 2] == "^"
    i += 2 if negated else 1
    items: list[str] = []
    while i < len(pattern) and pattern[i] != "]":
        if pattern.startswith("[:", i):
            end = pattern.index(":]", i)
            name = pattern[i + 2 : end].lower()
            if name not in _CLASSES:
                raise ValueError(f"unknown class {name}")
            items.append(_CLASSES[name])
            i = end + 2
        elif pattern[i] == "\\":
            item, i = _escape(pattern, i)
            items.append(item)
        else:
            items.append("\\" + pattern[i] if pattern[i] in "[&~|" else pattern[i])
            i += 1
    if i >= len(pattern):
        raise ValueError("a bracket is not closed")
    if not items:
        return (r"[\s\S]" if negated else r"(?!)"), i + 1
    return f"[{'^' if negated else ''}{''.join(items)}]", i + 1

"""Values of every type as text, read and printed: `12`, `1.5`, `any text`, `[1, [2, nil]]`, `$Branch(1, $Leaf)`.

Records nest as deep as a program makes them (a list of a million elements is one record inside the other), so nothing
here recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from flintlog.io.numerals import ValueTextError, print_digits, print_float, scan_float, scan_integer
from flintlog.types import Adt, AdtType, Field, Kind, RecordType, ScalarType, TypeTable, Value

_SPACE = " \t\n\v\f\r"
_QUALIFIED_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_?.")


def format_value(value: Value, type_name: str, types: TypeTable, word_size: int = 64) -> str:
    """A value as Soufflé prints it. Symbols inside records stand there bare, so this is for reading by people; what
    must come back unharmed is printed with `quote_symbol`.

    >>> from flintlog.types import PRIMITIVES
    >>> pair = RecordType("pair", (Field("x", "number"), Field("y", "pair")))
    >>> format_value((1, (2, None)), "pair", {**PRIMITIVES, "pair": pair})
    '[1, [2, nil]]'
    """
    return value_printer(type_name, types, word_size)(value)


def parse_value(text: str, type_name: str, types: TypeTable, word_size: int = 64) -> Value:
    """The value that a whole field of a facts file stands for; ValueTextError where it is none.

    >>> from flintlog.types import PRIMITIVES
    >>> parse_value("0x1f", "unsigned", PRIMITIVES), parse_value("+7", "number", PRIMITIVES)
    (31, 7)
    """
    return value_parser(type_name, types, word_size)(text)


def value_parser(type_name: str, types: TypeTable, word_size: int) -> Callable[[str], Value]:
    """The parser of a column's fields, with the look-ups done once."""
    definition = types[type_name]
    if definition.kind is Kind.SYMBOL:
        return str

    def parse(text: str) -> Value:
        value: Value
        if not isinstance(definition, ScalarType):
            value, end = scan_nested(text, 0, type_name, types, word_size)
        elif definition.kind is Kind.FLOAT:
            value, end = scan_float(text, 0, definition, word_size)
        else:
            value, end = scan_integer(text, 0, definition, word_size, prefixes=True)
        if end != len(text):
            raise ValueTextError(f"`{text[end:][:40]}` is left over after a `{type_name}`", end, len(text) - end)
        return value

    return parse


@dataclass(slots=True)
class _Unfinished:
    """A record or branch whose closing bracket is still to come."""

    branch: str | None
    fields: tuple[Field, ...]
    close: str
    values: list[Value] = field(default_factory=list)

    def finished(self) -> Value:
        values = tuple(self.values)
        return values if self.branch is None else Adt(self.branch, values)


def scan_nested(text: str, start: int, type_name: str, types: TypeTable, word_size: int) -> tuple[Value, int]:
    """The record or branch that begins at `start`, and where it ends."""
    outer: list[_Unfinished] = []
    position = start
    while True:
        value, position = _begin(text, position, type_name, types, word_size, outer)
        if value is _OPENED:
            type_name = outer[-1].fields[0].type
            continue
        while outer:
            inner = outer[-1]
            inner.values.append(value)
            if len(inner.values) < len(inner.fields):
                position = _skip_space(text, _expect(text, position, ","))
                type_name = inner.fields[len(inner.values)].type
                break
            position = _expect(text, position, inner.close)
            value = outer.pop().finished()
        else:
            return value, position


_OPENED: Value = ("opened",)


def _begin(
    text: str, start: int, type_name: str, types: TypeTable, word_size: int, outer: list[_Unfinished]
) -> tuple[Value, int]:
    """A whole value, or `_OPENED` after the bracket of a record or branch with fields, which is then on `outer`."""
    definition = types[type_name]
    if isinstance(definition, ScalarType):
        if definition.kind is Kind.SYMBOL:
            return _scan_symbol(text, start, "," + outer[-1].close)
        if definition.kind is Kind.FLOAT:
            return scan_float(text, start, definition, word_size)
        return scan_integer(text, start, definition, word_size)
    if isinstance(definition, RecordType):
        start = _skip_space(text, start)
        if text.startswith("nil", start):
            return None, start + 3
        position, opened = _expect(text, start, "["), _Unfinished(None, definition.fields, "]")
        if not definition.fields:
            return (), _expect(text, position, "]")
    else:
        position, opened = _begin_branch(text, start, definition)
        if not opened.fields:
            return opened.finished(), position
        position = _expect(text, position, "(")
    outer.append(opened)
    return _OPENED, _skip_space(text, position)


def _begin_branch(text: str, start: int, definition: AdtType) -> tuple[int, _Unfinished]:
    name_start = end = _skip_space(text, _expect(text, start, "$"))
    while end < len(text) and text[end] in _QUALIFIED_NAME:
        end += 1
    name = text[name_start:end]
    branch = definition.branch(name)
    if branch is None:
        known = ", ".join(f"`{b.name}`" for b in definition.branches)
        message = f"`{definition.name}` has no branch `{name}`, only {known}"
        raise ValueTextError(message, name_start, max(1, end - name_start))
    return end, _Unfinished(name, branch.fields, ")")


def _scan_symbol(text: str, start: int, stops: str) -> tuple[str, int]:
    """A symbol inside a record: quoted, with a backslash before what would end it, or bare up to the next separator."""
    if not text.startswith('"', start):
        ends = [end for stop in stops if (end := text.find(stop, start)) >= 0]
        if not ends:
            raise ValueTextError(f"expected `{stops[1]}` before the end of the value", len(text))
        return text[start : min(ends)], min(ends)
    pieces, position = [], start + 1
    while position < len(text):
        quote = text.find('"', position)
        escape = text.find("\\", position, quote) if quote >= 0 else -1
        if quote < 0:
            break
        if escape < 0:
            pieces.append(text[position:quote])
            return "".join(pieces), quote + 1
        pieces += [text[position:escape], text[escape + 1 : escape + 2]]
        position = escape + 2
    raise ValueTextError("the quotation mark is never closed", start)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _expect(text: str, position: int, wanted: str) -> int:
    position = _skip_space(text, position)
    if not text.startswith(wanted, position):
        found = f"found `{text[position]}`" if position < len(text) else "the value ends here"
        raise ValueTextError(f"expected `{wanted}`, {found}", position)
    return position + 1


def value_printer(
    type_name: str, types: TypeTable, word_size: int, nested_symbol: Callable[[str], str] = str
) -> Callable[[Value], str]:
    """The printer of a column's values. `nested_symbol` prints symbols inside records and branches."""
    definition = types[type_name]
    if isinstance(definition, ScalarType):
        return _scalar_printer(definition, word_size, str)
    printers: dict[str, Callable[[Value], str]] = {
        name: _scalar_printer(scalar, word_size, nested_symbol)
        for name, scalar in types.items()
        if isinstance(scalar, ScalarType)
    }

    def print_nested(value: Value) -> str:
        pieces: list[str] = []
        todo: list[Iterator[str | tuple[str, Value]]] = [iter([(type_name, value)])]
        while todo:
            for item in todo[-1]:
                if isinstance(item, str):
                    pieces.append(item)
                elif item[0] in printers:
                    pieces.append(printers[item[0]](item[1]))
                else:
                    todo.append(_parts(item[1], types[item[0]]))
                    break
            else:
                todo.pop()
        return "".join(pieces)

    return print_nested


def _parts(value: Value, definition: object) -> Iterator[str | tuple[str, Value]]:
    """The text pieces of a record or branch and, between them, its fields with their types."""
    if value is None:
        return iter(["nil"])
    if isinstance(definition, RecordType):
        assert isinstance(value, tuple)
        return chain(["["], _separated(definition.fields, value), ["]"])
    assert isinstance(value, Adt)
    assert isinstance(definition, AdtType)
    branch = definition.branch(value.branch)
    assert branch is not None
    if not branch.fields:
        return iter([f"${branch.name}"])
    return chain([f"${branch.name}("], _separated(branch.fields, value.args), [")"])


def _separated(fields: tuple[Field, ...], values: tuple[Value, ...]) -> Iterator[str | tuple[str, Value]]:
    for index, (place, value) in enumerate(zip(fields, values, strict=True)):
        if index:
            yield ", "
        yield place.type, value


def _scalar_printer(scalar: ScalarType, word_size: int, symbol: Callable[[str], str]) -> Callable[[Value], str]:
    if scalar.kind is Kind.SYMBOL:
        return symbol  # type: ignore[return-value]  # a column of symbols holds strings
    if scalar.kind is Kind.FLOAT:
        digits = print_digits(scalar, word_size)
        return lambda value: print_float(value, digits)  # type: ignore[arg-type]  # and a column of floats floats
    return str


def quote_symbol(symbol: str) -> str:
    r"""A symbol inside a record so that reading brings it back.

    >>> quote_symbol('say "a, b"')
    '"say \\"a, b\\""'
    """
    escaped = symbol.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

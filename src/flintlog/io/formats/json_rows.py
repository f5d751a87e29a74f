"""Rows as JSON: an array of lists or of objects. Records are lists or objects too, nil is null, and a branch, which
Soufflé's JSON has no form for, is an object with one key: {"$Branch": [1, 2]}."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from flintlog.diagnostics import Report
from flintlog.io.formats.json_values import value_from_json
from flintlog.io.numerals import ValueTextError, print_float, round_to_single
from flintlog.io.problems import FileProblems
from flintlog.io.schema import Schema
from flintlog.types import Adt, AdtType, Field, Kind, RecordType, Row, ScalarType, Value

_SPACE = re.compile(r"[ \t\n\r]*")
_TOO_DEEP = "this row nests deeper than JSON can be read here"


def read_json(text: str, name: str, schema: Schema, report: Report) -> list[Row]:
    """The rows of a whole JSON text. `name` is the file's, for messages."""
    problems = FileProblems(report, name)
    rows: list[Row] = []
    line, seen = 1, 0
    try:
        for item, start, end in _elements(text):
            try:
                rows.append(_row(item, schema))
            except ValueTextError as error:
                line, seen = line + text.count("\n", seen, start), start
                _add(problems, "E704" if error.out_of_range else "E703", error.message, text, line, start, end)
            except RecursionError:
                line, seen = line + text.count("\n", seen, start), start
                _add(problems, "E708", _TOO_DEEP, text, line, start, end)
    except json.JSONDecodeError as error:
        _add(problems, "E708", f"this is not JSON: {error.msg}", text, error.lineno, error.pos, error.pos + 1)
    except RecursionError:
        problems.add("E708", _TOO_DEEP, "", 1)
    problems.close()
    return rows


def _add(problems: FileProblems, code: str, message: str, text: str, line: int, start: int, end: int) -> None:
    first = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    excerpt = text[first : stop if stop >= 0 else len(text)]
    problems.add(code, message, excerpt, line, start - first, end - first)


def _elements(text: str) -> Iterator[tuple[Any, int, int]]:
    """The elements of the outermost array one by one, so that each has a place in the text."""
    decode = json.JSONDecoder().raw_decode
    position = _after_space(text, 0)
    if not text.startswith("[", position):
        raise json.JSONDecodeError("an array of rows must begin here", text, position)
    position = _after_space(text, position + 1)
    if text.startswith("]", position):
        return
    while True:
        try:
            item, end = decode(text, position)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            # Python refuses to convert numbers of thousands of digits, none of which is in range.
            raise json.JSONDecodeError("a number of this row has too many digits", text, position) from error
        yield item, position, end
        position = _after_space(text, end)
        if text.startswith("]", position):
            break
        if not text.startswith(",", position):
            raise json.JSONDecodeError("expected `,` or `]`", text, position)
        position = _after_space(text, position + 1)
    position = _after_space(text, position + 1)
    if position < len(text):
        raise json.JSONDecodeError("something stands behind the end of the array", text, position)


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def _row(item: Any, schema: Schema) -> Row:
    if not schema.columns and item is None:
        return ()
    if isinstance(item, Mapping):
        unknown = sorted(item.keys() - {column.name for column in schema.columns})
        if unknown:
            raise ValueTextError(f"`{schema.name}` has no column `{unknown[0]}`")
        missing = [column.name for column in schema.columns if column.name not in item]
        if missing:
            raise ValueTextError(f"column `{missing[0]}` is missing")
        items: Sequence[Any] = [item[column.name] for column in schema.columns]
    elif isinstance(item, list):
        if len(item) < len(schema.columns):
            raise ValueTextError(f"values are missing: this row has {len(item)}, the relation {len(schema.columns)}")
        items = item
    else:
        raise ValueTextError("a row must be a list or an object")
    values: list[Value] = []
    for column, value in zip(schema.columns, items, strict=False):
        try:
            values.append(value_from_json(value, column.type, schema))
        except ValueTextError as error:
            raise ValueTextError(f"column `{column.name}`: {error.message}", out_of_range=error.out_of_range) from error
    return tuple(values)


def written_json(schema: Schema, rows: Iterable[Row], as_objects: bool) -> Iterator[str]:
    """The text of rows, piece by piece, laid out as Soufflé lays it out: one row a line."""
    yield "["
    if not schema.columns:
        if any(True for _ in rows):
            yield "null\n"
        yield "]\n"
        return
    print_row = _row_printer(schema, as_objects)
    separator = ""
    for row in rows:
        yield separator + print_row(row)
        separator = ",\n"
    yield "]\n"


def _row_printer(schema: Schema, as_objects: bool) -> Callable[[Row], str]:
    printer = _Printer(schema, as_objects)
    opening, closing = ("{", "}") if as_objects else ("[", "]")
    columns = [(json_text(column.name) + ": " if as_objects else "", column.type) for column in schema.columns]

    def print_row(row: Row) -> str:
        values = (key + printer.print(value, name) for (key, name), value in zip(columns, row, strict=True))
        return opening + ", ".join(values) + closing

    return print_row


_Part = str | tuple[str, Value]


class _Printer:
    """Prints values without recursion: records nest as deep as programs make them."""

    def __init__(self, schema: Schema, as_objects: bool) -> None:
        self._schema: Final = schema
        self._as_objects: Final = as_objects

    def print(self, value: Value, type_name: str) -> str:
        pieces: list[str] = []
        todo: list[Iterator[_Part]] = [iter([(type_name, value)])]
        while todo:
            part = next(todo[-1], None)
            if part is None:
                todo.pop()
            elif isinstance(part, str):
                pieces.append(part)
            else:
                todo.append(self._parts(*part))
        return "".join(pieces)

    def _parts(self, type_name: str, value: Value) -> Iterator[_Part]:
        definition = self._schema.types[type_name]
        if isinstance(definition, ScalarType):
            return iter([scalar_text(value, definition, self._schema.word_size)])
        if value is None:
            return iter(["null"])
        if isinstance(definition, RecordType):
            assert isinstance(value, tuple)
            return self._fields(definition.fields, value)
        assert isinstance(definition, AdtType)
        assert isinstance(value, Adt)
        branch = definition.branch(value.branch)
        assert branch is not None
        return chain(["{" + json_text("$" + branch.name) + ": "], self._fields(branch.fields, value.args), ["}"])

    def _fields(self, fields: tuple[Field, ...], values: tuple[Value, ...]) -> Iterator[_Part]:
        yield "{" if self._as_objects else "["
        for index, (place, value) in enumerate(zip(fields, values, strict=True)):
            yield (", " if index else "") + (json_text(place.name) + ": " if self._as_objects else "")
            yield place.type, value
        yield "}" if self._as_objects else "]"


def scalar_text(value: Value, scalar: ScalarType, word_size: int) -> str:
    """A number, float or symbol as JSON."""
    if scalar.kind is Kind.SYMBOL:
        return json_text(str(value))
    if scalar.kind is Kind.FLOAT:
        assert isinstance(value, float)
        return _float_text(value, word_size)
    return str(value)


def _float_text(value: float, word_size: int) -> str:
    """Soufflé prints six digits in JSON. Where these do not bring the value back, as many more as it takes. What JSON
    has no number for becomes a string, which reading takes back."""
    if value - value != 0.0:
        return json_text(print_float(value, 6))
    for digits in range(6, 18):
        text = print_float(value, digits)
        back = float(text)
        if back == value or (word_size == 32 and abs(back) < 1e38 and round_to_single(back) == value):
            return text
    return repr(value)


def json_text(text: str) -> str:
    """A JSON string; like Soufflé's, with characters outside of ASCII as they are, but for two line separators."""
    return json.dumps(text, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")

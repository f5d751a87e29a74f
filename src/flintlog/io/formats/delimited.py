"""Rows as lines of delimited text: Soufflé's facts files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from flintlog.diagnostics import Report
from flintlog.io.formats import fast_columns, rfc4180
from flintlog.io.formats.cells import Cell, Cells, RowReader
from flintlog.io.parameters import Dialect
from flintlog.io.problems import FileProblems
from flintlog.io.schema import Schema
from flintlog.source import SourceFile, Span
from flintlog.types import Field, Kind, Row, Value

_LINES_AT_ONCE = 1 << 16


def read_delimited(text: str, name: str, schema: Schema, dialect: Dialect, report: Report) -> list[Row]:
    """The rows of a whole text. `name` is the file's, for messages."""
    if dialect.rfc4180 and '"' in text and schema.columns:
        return _read_quoted(text, name, schema, dialect, report)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    first = 1 if dialect.headers else 0
    if not schema.columns:
        # Any line at all, an empty one too, says that a relation without columns holds.
        return [()] if len(lines) > first else []
    brackets = "[" in text or "]" in text
    return _read_lines(lines, first, brackets, name, schema, dialect, report)


def _read_lines(
    lines: list[str], first: int, brackets: bool, name: str, schema: Schema, dialect: Dialect, report: Report
) -> list[Row]:
    field_end = _field_end(brackets, dialect)
    found = fast_columns.converters(schema) if field_end is _plain_field_end else None
    problems = FileProblems(report, name)
    reader = RowReader(schema, dialect, problems)
    rows: list[Row] = []
    wide = False
    for start in range(first, len(lines), _LINES_AT_ONCE):
        block = lines[start : start + _LINES_AT_ONCE]
        fast = fast_columns.convert(block, dialect, found) if found is not None else None
        if fast is not None:
            rows += fast[0]
            wide = wide or fast[1]
        else:
            cells = (_cells(line, start + i + 1, dialect, field_end) for i, line in enumerate(block))
            rows += reader.rows(cells)
    problems.close()
    if (wide or reader.wide) and not dialect.chosen:
        _warn_of_extra_columns(name, lines, first, field_end, dialect, report)
    return rows


def _read_quoted(text: str, name: str, schema: Schema, dialect: Dialect, report: Report) -> list[Row]:
    problems = FileProblems(report, name)
    reader = RowReader(schema, dialect, problems)
    rows = list(reader.rows(rfc4180.records(text, dialect)))
    problems.close()
    return rows


FieldEnd = Callable[[str, int, str], int]


def _field_end(brackets: bool, dialect: Dialect) -> FieldEnd:
    """Where a delimiter with a comma meets brackets, these keep a record together."""
    if brackets and "," in dialect.delimiter and not dialect.rfc4180:
        return _bracketed_field_end
    return _plain_field_end


def _plain_field_end(line: str, start: int, delimiter: str) -> int:
    end = line.find(delimiter, start)
    return end if end >= 0 else len(line)


def _bracketed_field_end(line: str, start: int, delimiter: str) -> int:
    """The end of a field whose brackets are balanced, or -1. A field with a delimiter inside brackets ends right after
    its last bracket."""
    depth, position = 0, start
    delimited = _plain_field_end(line, start, delimiter)
    while position < delimited or depth:
        if position >= len(line):
            return -1
        depth += {"[": 1, "]": -1}.get(line[position], 0)
        if depth < 0:
            return -1
        position += 1
    return position


def _cells(line: str, number: int, dialect: Dialect, field_end: FieldEnd) -> Cells:
    """The fields of a line, as far as they are needed."""
    cells = Cells(line, number)
    start = 0
    for _ in range(max(dialect.picks) + 1):
        if start > len(line):
            break
        end = field_end(line, start, dialect.delimiter)
        if end < 0:
            cells.problem = ("E706", "the brackets of this record are not balanced", start, len(line))
            break
        cells.cells.append(Cell(line[start:end], start, end))
        start = end + len(dialect.delimiter)
    else:
        cells.rest = start <= len(line)
    return cells


def _warn_of_extra_columns(
    name: str, lines: list[str], first: int, field_end: FieldEnd, dialect: Dialect, report: Report
) -> None:
    for number, line in enumerate(islice(lines, first, None), start=first + 1):
        cells = _cells(line, number, dialect, field_end)
        if cells.rest:
            span = Span(SourceFile(name, line, number), cells.cells[-1].end, len(line))
            note = 'say which columns are meant with columns="0:1:…"; leave the rest out of the file to be rid of this'
            message = (
                f"`{name}` has lines with more than {len(dialect.picks)} columns; what stands behind them is not read"
            )
            report.warning("W701", message, span, note=note)
            return


def written_lines(schema: Schema, rows: Iterable[Row], dialect: Dialect) -> Iterator[str]:
    """The text of rows, in pieces of many lines."""
    if not schema.columns:
        if any(True for _ in rows):
            yield "()\n"
        return
    printers = [_field_printer(column, schema, dialect) for column in schema.columns]
    rows = iter(rows)
    while block := list(islice(rows, _LINES_AT_ONCE)):
        printed = [map(print_, values) for print_, values in zip(printers, zip(*block, strict=True), strict=True)]
        yield "\n".join(map(dialect.delimiter.join, zip(*printed, strict=True))) + "\n"


def _field_printer(column: Field, schema: Schema, dialect: Dialect) -> Callable[[Value], str]:
    if not dialect.rfc4180:
        return schema.printer(column)
    printer = schema.printer(column, rfc4180.print_nested_symbol)
    scalar = schema.scalar_of(column)
    if scalar is None:
        return lambda value: f'"{printer(value)}"'
    if scalar.kind is Kind.SYMBOL:
        return lambda value: rfc4180.print_symbol(str(value))
    return printer

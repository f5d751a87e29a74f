"""The careful way from fields to rows: one value at a time, every problem with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from flintlog.io.numerals import ValueTextError
from flintlog.io.parameters import Dialect
from flintlog.io.problems import FileProblems
from flintlog.io.schema import Schema
from flintlog.types import Field, Row, Value


class Cell(NamedTuple):
    """A field's text and its place [start, end) in the excerpt it comes from."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Cells:
    """The fields of one row: `excerpt` is the text around them, which begins at line `line`. `problem` (code, message,
    start, end) says why there are no more fields; `rest`, that the line goes on behind them."""

    excerpt: str
    line: int
    cells: list[Cell] = field(default_factory=list)
    problem: tuple[str, str, int, int] | None = None
    rest: bool = False


class RowReader:
    """Turns fields into rows; what it cannot turn, it reports and leaves out."""

    def __init__(self, schema: Schema, dialect: Dialect, problems: FileProblems) -> None:
        self._dialect = dialect
        self._problems = problems
        self._parsers = [
            (pick, column, schema.parser(column)) for pick, column in zip(dialect.picks, schema.columns, strict=True)
        ]
        self.wide = False

    def rows(self, records: Iterable[Cells]) -> Iterator[Row]:
        for record in records:
            row = self._row(record)
            if row is not None:
                yield row

    def _row(self, record: Cells) -> Row | None:
        self.wide = self.wide or record.rest
        if record.problem is not None:
            code, message, start, end = record.problem
            self._problems.add(code, message, record.excerpt, record.line, start, end)
            return None
        if len(record.cells) <= max(self._dialect.picks):
            self._missing(record)
            return None
        values: list[Value] = []
        sound = True
        for pick, column, parse in self._parsers:
            cell = record.cells[pick]
            try:
                values.append(parse(cell.text))
            except ValueTextError as error:
                self._unreadable(record, cell, column, error)
                sound = False
        return tuple(values) if sound else None

    def _missing(self, record: Cells) -> None:
        wanted, found = max(self._dialect.picks) + 1, len(record.cells)
        plural = "value" if found == 1 else "values"
        message = f"values are missing: this line has {found} {plural}, the relation needs {wanted}"
        end = len(record.excerpt)
        note = self._delimiter_note(record.excerpt)
        self._problems.add("E702", message, record.excerpt, record.line, end, end, note=note)

    def _delimiter_note(self, line: str) -> str:
        delimiter = self._dialect.delimiter
        named = {"\t": "a tab", "\n": "a line break"}.get(delimiter, f"`{delimiter}`")
        other = next((mark for mark in ("\t", ",", ";", "|", " ") if mark in line and mark != delimiter), None)
        if other is None:
            return f"values are separated by {named}"
        written = "\\t" if other == "\t" else other
        return f'values are separated by {named}; did you mean delimiter="{written}"?'

    def _unreadable(self, record: Cells, cell: Cell, column: Field, error: ValueTextError) -> None:
        code = "E704" if error.out_of_range else "E703"
        message = f"column `{column.name}`: {error.message}"
        start, end = cell.start, cell.end
        # A quoted field with doubled quotation marks is longer than its text: there the whole field is marked.
        if end - start == len(cell.text):
            start, end = start + error.offset, min(end, start + error.offset + error.length)
        self._problems.add(code, message, record.excerpt, record.line, start, end)

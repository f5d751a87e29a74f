"""Tasks that read lines of text into plain rows, with the readers that the other engines have for whole files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flintlog.diagnostics import Diagnostic, Report
from flintlog.engines.spark.data.plain import narrow, plain_table
from flintlog.engines.spark.data.sources.notes import Found, Note, located_notes, note_of, noted_rows, with_note
from flintlog.io.atomic import decode
from flintlog.io.column_facts import ColumnFacts
from flintlog.io.formats.delimited import read_delimited
from flintlog.io.formats.json_rows import read_json
from flintlog.io.parameters import Dialect
from flintlog.io.schema import Schema
from flintlog.types import Kind, Row

if TYPE_CHECKING:
    import pyarrow as pa

_BULK = {Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL}
# Lines with a mistake among them are divided into so many parts, and again, until each mistaken line is alone.
_PARTS = 16

Line = tuple[int, str]


@dataclass(frozen=True)
class LineJob:
    """How lines become rows: by a layout; without one, each line is a value of JSON."""

    schema: Schema
    layout: Dialect | None

    @property
    def skips_headers(self) -> bool:
        return self.layout is not None and self.layout.headers


def read_lines(job: LineJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows and notes. If headers are to be skipped, each line comes with a number for its file, and the offset at which
    this task's part of the file starts."""
    for _, _, lines in _runs(job, batches):
        table, notes = _read(job, lines)
        if table is not None:
            yield from with_note(table).to_batches()
        if notes:
            yield noted_rows(job.schema, [note.packed() for _, note in notes])


def locate_line_notes(job: LineJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The notes without the rows, with their locations. Each line comes with the path of its file, and the offset at
    which this task's part of the file starts; an index counts lines from there."""
    for (file, start), first, lines in _runs(job, batches, located=True):
        _, notes = _read(job, lines)
        yield located_notes(file, start, [(first + index, note) for index, note in notes])


Run = tuple[tuple[Any, int], int, Any]


def _runs(job: LineJob, batches: Iterator[pa.RecordBatch], *, located: bool = False) -> Iterator[Run]:
    """Lines of one part of one file: the part, the number of its lines before these, and the lines. Spark reads one
    part after the other, each from its start to its end."""
    before: tuple[Any, int] | None = None
    count = 0
    for batch in batches:
        if not (located or job.skips_headers):
            yield ("", 0), 0, narrow(batch.column(0))
            continue
        for key, start, end in _stretches(batch):
            if key != before:
                before, count = key, 0
            first = 1 if job.skips_headers and key[1] == 0 and count == 0 else 0
            if start + first < end:
                yield key, count + first, narrow(batch.column(0)).slice(start + first, end - start - first)
            count += end - start


def _stretches(batch: pa.RecordBatch) -> Iterator[tuple[tuple[Any, int], int, int]]:
    """The stretches of a batch that belong to one part of a file: the part, and the range of lines."""
    import numpy as np

    if not batch.num_rows:
        return
    files, starts = batch.column(1).dictionary_encode(), batch.column(2).to_numpy()
    numbers = files.indices.to_numpy()
    changes = np.flatnonzero((np.diff(numbers) != 0) | (np.diff(starts) != 0)) + 1
    bounds = [0, *changes.tolist(), batch.num_rows]
    for start, end in pairwise(bounds):
        yield (files.dictionary[int(numbers[start])].as_py(), int(starts[start])), start, end


def _read(job: LineJob, lines: Any) -> tuple[pa.Table | None, list[tuple[int, Note]]]:
    """The rows of some lines, and the notes on them with their indexes among the lines."""
    facts = _in_bulk(job, lines)
    if facts is not None:
        return plain_table(job.schema, facts), []
    texts = [decode(data) for data in lines.cast("binary").to_pylist()]
    rows, notes = read_carefully(job, list(enumerate(texts)))
    return plain_table(job.schema, rows) if rows else None, notes


def _in_bulk(job: LineJob, lines: Any) -> ColumnFacts | None:
    if not job.schema.columns or not set(job.schema.kinds()) <= _BULK or not len(lines):
        return None
    if job.layout is None:
        from flintlog.io.formats.json_columns import read_json_columns

        facts = read_json_columns(b"[" + _joined(lines, b",") + b"]", job.schema)
        return facts if facts is not None and len(facts) == len(lines) else None
    from flintlog.io.formats.delimited_columns import read_delimited_columns

    if len(job.schema.columns) > 1 and _has_blank(lines):
        return None  # a blank line has too few values, but Arrow would skip it
    # Without the line break at the end, an empty last line would not count.
    return read_delimited_columns(_joined(lines, b"\n") + b"\n", job.schema, replace(job.layout, headers=False))


def _has_blank(lines: Any) -> bool:
    import pyarrow.compute as pc

    shortest = pc.min(pc.binary_length(lines)).as_py()
    return bool(shortest == 0 or (shortest == 1 and pc.any(pc.equal(lines.cast("binary"), b"\r")).as_py()))


def _joined(lines: Any, separator: bytes) -> bytes:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.ListArray.from_arrays([0, len(lines)], lines.cast("binary"))
    joined: bytes = pc.binary_join(whole, separator)[0].as_py()
    return joined


def read_carefully(job: LineJob, lines: Sequence[Line]) -> tuple[list[Row], list[tuple[int, Note]]]:
    """The rows of numbered lines, and notes with the numbers of their lines. A line with a mistake gives a note and no
    row."""
    if job.layout is None:
        lines = [line for line in lines if line[1].strip()]
    if not lines:
        return [], []
    report = Report()
    rows = _parsed(job, [text for _, text in lines], report)
    odd = [(lines[0][0] + d.span.file.first_line - 1, note_of([d])) for d in report.warnings]
    if not report.has_errors and (job.layout is not None or len(rows) == len(lines)):
        return rows, odd
    if len(lines) == 1:
        errors = report.errors or [Diagnostic("E708", "a line must hold one row, as JSON")]
        found = [Found(d.code, d.message, *_span(job, d), d.note) for d in errors]
        return [], [(lines[0][0], Note(lines[0][1], tuple(found)))]
    rows, notes = [], []
    size = max(1, len(lines) // _PARTS)
    for start in range(0, len(lines), size):
        more, found_there = read_carefully(job, lines[start : start + size])
        rows += more
        notes += found_there
    return rows, notes


def _span(job: LineJob, diagnostic: Diagnostic) -> tuple[int, int]:
    # A line of JSON is read as the only row of an array, whose bracket stands before it.
    before = 1 if job.layout is None else 0
    return max(0, diagnostic.span.start - before), max(0, diagnostic.span.end - before)


def _parsed(job: LineJob, lines: Sequence[str], report: Report) -> list[Row]:
    if job.layout is None:
        return read_json("[" + ",\n".join(lines) + "]", "", job.schema, report)
    text = "".join(f"{line}\n" for line in lines)
    return read_delimited(text, "", job.schema, replace(job.layout, headers=False), report)

"""Sources that the driver reads: small ones, and those that Spark has no way to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Report
from flintlog.engines.spark.data.frames import frame_of, promised_frame_of
from flintlog.engines.spark.data.plain import plain_table
from flintlog.engines.spark.data.sources.bad_records import LocatedNotes, handle, say_odd
from flintlog.engines.spark.data.sources.line_tasks import LineJob, read_carefully
from flintlog.engines.spark.data.sources.notes import Note, located_notes, note_of
from flintlog.engines.spark.data.sources.plain_source import Source
from flintlog.io import read_facts
from flintlog.io.atomic import decode
from flintlog.io.column_facts import ColumnFacts, read_columns
from flintlog.io.packed import DamagedFile, unpacked
from flintlog.types import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The codes of problems with a single record. All others concern the whole file.
_OF_RECORDS = ("E702", "E703", "E704", "E705", "E706", "E719")


def read_here(source: Source) -> DataFrame:
    """The plain frame of a directive's facts, read by the readers of single files."""
    return _frame(source, [_read(source, Report())])


def read_files_here(source: Source, files: Iterable[Path]) -> DataFrame:
    """The plain frame of several files together."""
    report = Report()
    one_by_one = [replace(source, params={**source.params, "filename": str(f)}, facts_dir=Path()) for f in files]
    found = [_read(one, report, raises=False) for one in one_by_one]
    _raise(source, report)
    return _frame(source, found)


def _frame(source: Source, found: Sequence[Iterable[Row] | ColumnFacts]) -> DataFrame:
    import pyarrow as pa

    tables = [plain_table(source.schema, rows) for rows in found] or [plain_table(source.schema, [])]
    return promised_frame_of(source.spark, pa.concat_tables(tables), source.names)


def _read(source: Source, report: Report, *, raises: bool = True) -> Iterable[Row] | ColumnFacts:
    columns, types = source.schema.columns, source.schema.types
    name, word_size, directory = source.relation.name, source.schema.word_size, Path(source.facts_dir)
    facts = read_columns(name, columns, source.params, types, directory, word_size)
    if facts is not None:
        return facts
    own = Report()
    rows = read_facts(
        name,
        columns,
        source.params,
        types,
        facts_dir=directory,
        word_size=word_size,
        report=own,
        span=source.span,
    )
    if own.has_errors and not source.refuses and all(d.code in _OF_RECORDS for d in own.errors):
        _set_aside(source, [note_of([diagnostic]) for diagnostic in own.errors], own.errors[0].span.file.name)
        own = Report()
    for diagnostic in own.sorted():
        report.add(diagnostic)
    if raises:
        _raise(source, report)
    return rows


def _raise(source: Source, report: Report) -> None:
    for warning in report.warnings:
        source.notify(warning)
    report.raise_if_errors()


def read_lines_here(source: Source, job: LineJob, files: Sequence[Path]) -> DataFrame:
    """The plain frame of small files of lines, with every bad record set aside."""
    rows: list[Row] = []
    for file in files:
        try:
            lines = decode(unpacked(file.read_bytes())).split("\n")
        except (DamagedFile, OSError):
            return read_files_here(replace(source, params={"IO": "file"}), [file])  # which says what is wrong with it
        if not lines[-1]:
            lines.pop()
        first = 1 if job.skips_headers else 0
        found, notes = read_carefully(job, list(enumerate(lines))[first:])
        rows += found
        bad = [replace(note, line=index + 1) for index, note in notes if note.is_bad]
        if bad:
            _set_aside(source, bad, str(file))
        for note in [note for _, note in notes if not note.is_bad][:1]:
            say_odd(source, note.with_name(str(file)))
    return _frame(source, [rows])


def _set_aside(source: Source, notes: Sequence[Note], name: str) -> None:
    import pyarrow as pa

    table = pa.Table.from_batches([located_notes(name, 0, list(enumerate(notes)))])
    frame = frame_of(source.spark, table)
    handle(source, LocatedNotes(frame, None, {name: name}), len(notes))

"""Records that do not fit their declaration: refused with their locations, or written to a directory and counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.spark.data.frames import with_known_rows
from flintlog.engines.spark.data.locations import address_of, is_address, not_shared
from flintlog.engines.spark.data.plain import text_array
from flintlog.engines.spark.data.retained import unpersist_with
from flintlog.engines.spark.data.sources.notes import NOTE, Note, report_notes, unpacked_note
from flintlog.engines.spark.data.sources.plain_source import Source, cause_of, spark_errors
from flintlog.io.problems import SHOWN_PER_FILE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# The most notes that the driver fetches, in the order of their locations.
_LOOKED_AT = 500

Before = Mapping[tuple[str, int], int]


@dataclass(frozen=True)
class LocatedNotes:
    """The notes of a source with their locations, as columns of LOCATED_DDL. `lines` has the number of lines of each
    part of a file in columns `file`, `start` and `count`; without it, notes have their lines. `names` are the names of
    files for messages."""

    notes: DataFrame
    lines: DataFrame | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, file: str) -> str:
        return _name(file, self.names)


def _name(file: str, names: Mapping[str, str]) -> str:
    plain = unquote(file)
    return names.get(plain, plain.removeprefix("file:") if plain.startswith("file:/") else plain)


def settled(
    source: Source, name: str, parsed: DataFrame, locate: Callable[[], LocatedNotes], *, keeps: bool = True
) -> DataFrame:
    """The plain frame of rows with notes among them, after a job that looks for notes. With `keeps`, the rows are
    persisted, so that the source is read once. FlintlogError if there are bad records, and they are refused. `name` is
    the source's name; `locate` reads the source again to find the locations of notes."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as fn

    if keeps:
        parsed = parsed.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        total, noted, bad = _counts(source, parsed)
        if bad:
            handle(source, locate(), bad)
        if noted > bad:
            _say_odd(source, name, parsed)
    except BaseException:
        if keeps:
            parsed.unpersist()
        raise
    good = parsed.where(fn.col(NOTE).isNull()).drop(NOTE).toDF(*source.names)
    if keeps:
        unpersist_with(good, parsed)
    return with_known_rows(good, total - noted)


def _counts(source: Source, parsed: DataFrame) -> tuple[int, int, int]:
    from pyspark.sql import functions as fn

    is_bad = fn.when(fn.col(NOTE).startswith("E"), 1)
    try:
        [row] = parsed.agg(fn.count("*"), fn.count(NOTE), fn.count(is_bad)).collect()
    except spark_errors() as error:
        raise source.unreadable(error) from error
    return row[0], row[1], row[2]


def _say_odd(source: Source, name: str, parsed: DataFrame) -> None:
    """Passes on one warning about a source, without its location: finding that would take reading the source again."""
    from pyspark.sql import functions as fn

    for row in parsed.where(fn.col(NOTE).startswith("W")).select(NOTE).limit(1).collect():
        say_odd(source, unpacked_note(row[NOTE]).with_name(name))


def say_odd(source: Source, note: Note) -> None:
    for found in note.found:
        source.notify(Diagnostic(found.code, f"{found.message}: `{note.text}`", source.span, found.remedy))


def handle(source: Source, located: LocatedNotes, bad: int) -> None:
    """Refuses the bad records of a source, or writes them to the directory for bad records."""
    from pyspark.sql import functions as fn

    if not source.refuses:
        _write_aside(source, located, bad)
        return
    chosen = located.notes.where(fn.col(NOTE).startswith("E"))
    found = _by_file(located, chosen.orderBy("file", "start", "index").limit(_LOOKED_AT).collect())
    counts = {row["file"]: row["count"] for row in chosen.groupBy("file").count().collect()}
    report = Report()
    for file, notes in found.items():
        _report_file(report, source, located.name_of(file), notes, counts[file])
    report.raise_if_errors()


def _by_file(located: LocatedNotes, rows: Iterable[Any]) -> dict[str, list[Note]]:
    found: dict[str, list[Note]] = defaultdict(list)
    before = _lines_before(located)
    for row in rows:
        found[row["file"]].append(_with_line(unpacked_note(row[NOTE]), row["file"], row["start"], row["index"], before))
    return found


def _with_line(note: Note, file: str, start: int, index: int, before: Before | None) -> Note:
    return note if before is None else replace(note, line=before[file, start] + index + 1)


def _lines_before(located: LocatedNotes) -> Before | None:
    """The number of lines of a file before each part of it."""
    if located.lines is None:
        return None
    before: dict[tuple[str, int], int] = {}
    file, total = "", 0
    for row in located.lines.orderBy("file", "start").collect():
        if row["file"] != file:
            file, total = row["file"], 0
        before[file, row["start"]] = total
        total += row["count"]
    return before


def _report_file(report: Report, source: Source, name: str, notes: Sequence[Note], count: int) -> None:
    """Reports the first problems of a file, and the number of further records with problems."""
    named = [note.with_name(name) for note in notes]
    report_notes(report, name, named[:SHOWN_PER_FILE], source.span)
    more = count - SHOWN_PER_FILE
    if more > 0 and len(named) > SHOWN_PER_FILE:
        message = f"{more} more {'record has' if more == 1 else 'records have'} problems in `{name}`, the next one here"
        next_one = named[SHOWN_PER_FILE]
        last = next_one.found[0]._replace(code="E719", message=message)
        report_notes(report, name, [replace(next_one, found=(last,))], source.span)


def _write_aside(source: Source, located: LocatedNotes, bad: int) -> None:
    """Writes bad records as lines of text, each with its reason, and warns of their number."""
    from pyspark.sql import functions as fn

    directory = f"{source.bad_records.rstrip('/')}/{source.relation.name}"
    is_here = not is_address(directory)
    notes = located.notes.where(fn.col(NOTE).startswith("E"))
    lines = notes.mapInArrow(partial(_aside_lines, _lines_before(located), located.names), "value string")
    try:
        # Appended, because a relation may have several sources, and the user may have files there.
        lines.write.mode("append").text(address_of(Path(directory)) if is_here else directory)
    except spark_errors() as error:
        message = f"cannot write bad records of `{source.relation.name}` to `{directory}`: {cause_of(error)}"
        note = "name another directory for bad records, one that every executor can write to"
        raise FlintlogError([Diagnostic("E712", message, source.span, note)]) from error
    if is_here and not any(Path(directory).glob("part-*")):
        raise not_shared(directory, source.span)
    does, are = ("record does", "is") if bad == 1 else ("records do", "are")
    message = f"{bad} {does} not fit the declaration of `{source.relation.name}` and {are} left out"
    source.notify(Diagnostic("W703", message, source.span, f"they stand in `{directory}`, each with its reason"))


def _aside_lines(
    before: Before | None, names: Mapping[str, str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        files, starts, indexes, notes = (batch.column(i).to_pylist() for i in range(4))
        texts = []
        for file, start, index, packed in zip(files, starts, indexes, notes, strict=True):
            note = _with_line(unpacked_note(packed), file, start, index, before)
            reason = "; ".join(f"{found.code} {found.message}" for found in note.found)
            line = f"{_name(file, names)}:{note.line}" if note.line else _name(file, names)
            text = note.text.replace("\r", "\\r").replace("\n", "\\n")
            texts.append(f"{line}: {reason}\t{text}")
        yield pa.record_batch([text_array(texts)], names=["value"])

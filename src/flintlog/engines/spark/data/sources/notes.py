"""Notes: the problems that tasks find in records, which travel to the driver as text in a column beside the rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from flintlog.diagnostics import Diagnostic, Report
from flintlog.engines.spark.data.plain import arrow_type, column_names
from flintlog.io.schema import Schema
from flintlog.source import SourceFile, Span

if TYPE_CHECKING:
    import pyarrow as pa

# The column of notes. It is null in rows that fit; in a row with a note, all other columns are null.
NOTE = "note"
LOCATED_DDL = f"file string, start bigint, index bigint, {NOTE} string"


class Found(NamedTuple):
    """A problem at [start, end) of a note's text."""

    code: str
    message: str
    start: int = 0
    end: int = 0
    remedy: str | None = None


@dataclass(frozen=True)
class Note:
    """Problems of one record. `line` is the number of the line on which `text` begins, 0 if it is not known."""

    text: str
    found: tuple[Found, ...]
    line: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether the record is left out; otherwise the note is a warning."""
        return any(found.code.startswith("E") for found in self.found)

    def without_name(self, name: str) -> Note:
        """The note without the file's name in its messages; `with_name` inserts another one."""
        return replace(self, found=tuple(f._replace(message=f.message.replace(f"`{name}`", "``")) for f in self.found))

    def with_name(self, name: str) -> Note:
        return replace(self, found=tuple(f._replace(message=f.message.replace("``", f"`{name}`")) for f in self.found))

    def packed(self) -> str:
        # Spark looks at the first letter only.
        return ("E" if self.is_bad else "W") + json.dumps([self.text, self.found, self.line])


def unpacked_note(packed: str) -> Note:
    """The note of a packed text. Notes that Spark's own expressions make have three parts, divided by line breaks:
    code, message and text, which may have more lines."""
    if not packed.startswith("[", 1):
        code, message, text = packed[1:].split("\n", 2)
        return Note(text, (Found(code, message),))
    text, found, line = json.loads(packed[1:])
    return Note(text, tuple(Found(*item) for item in found), line)


def note_of(diagnostics: Sequence[Diagnostic], text: str | None = None) -> Note:
    """The problems of one record. Its text is that of their span, unless it is given."""
    span = diagnostics[0].span
    found = tuple(Found(d.code, d.message, d.span.start, d.span.end, d.note) for d in diagnostics)
    return Note(span.file.text if text is None else text, found, span.file.first_line)


def report_notes(report: Report, name: str, notes: Sequence[Note], directive: Span) -> None:
    """Adds the problems of a file or table. A problem without a line has the span of the directive."""
    for note in notes:
        for found in note.found:
            if note.line:
                span, message = Span(SourceFile(name, note.text, note.line), found.start, found.end), found.message
            else:
                span, message = directive, f"{name}: {found.message}, in the row `{note.text}`"
            add = report.error if found.code.startswith("E") else report.warning
            add(found.code, message, span, note=found.remedy)


def located_notes(file: str, start: int, notes: Sequence[tuple[int, Note]]) -> pa.RecordBatch:
    """Notes with their file, the start of their part of it, and their indexes there: the columns of LOCATED_DDL."""
    import pyarrow as pa

    return pa.record_batch(
        {
            "file": pa.array([file] * len(notes), pa.string()),
            "start": pa.array([start] * len(notes), pa.int64()),
            "index": pa.array([index for index, _ in notes], pa.int64()),
            NOTE: pa.array([note.packed() for _, note in notes], pa.string()),
        }
    )


def with_note(table: pa.Table) -> pa.Table:
    """A table of rows that fit, with a column for notes."""
    import pyarrow as pa

    return table.append_column(NOTE, pa.nulls(table.num_rows, pa.string()))


def noted_rows(schema: Schema, notes: Sequence[str]) -> pa.RecordBatch:
    """Notes as rows without values."""
    import pyarrow as pa

    types = [arrow_type(kind) for kind in schema.kinds()] or [pa.int64()]
    nulls = [pa.nulls(len(notes), type_) for type_ in types]
    return pa.record_batch([*nulls, pa.array(notes, pa.string())], names=[*column_names(len(schema.columns)), NOTE])

"""What tasks found wrong with a source, on its way to the driver: text in a column beside the rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from flintlog.diagnostics import Diagnostic, Report
from flintlog.engines.spark.data.plain import arrow_type, places
from flintlog.io.schema import Schema
from flintlog.source import SourceFile, Span

if TYPE_CHECKING:
    import pyarrow as pa

# The column of notes; rows have none, and a note has no values.
NOTE = "note"


class Found(NamedTuple):
    """A problem at [start, end) of a note's text."""

    code: str
    message: str
    start: int = 0
    end: int = 0
    remedy: str | None = None


@dataclass(frozen=True)
class Note:
    """Problems of one record. `line` is the number of the line on which `text` begins, 0 where nobody knows it."""

    text: str
    found: tuple[Found, ...]
    line: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether the record is left out; else it is just odd."""
        return any(found.code.startswith("E") for found in self.found)

    def without_name(self, name: str) -> Note:
        """The note of a file whose name is known elsewhere, and put in later where messages leave a place for it."""
        return replace(self, found=tuple(f._replace(message=f.message.replace(f"`{name}`", "``")) for f in self.found))

    def with_name(self, name: str) -> Note:
        return replace(self, found=tuple(f._replace(message=f.message.replace("``", f"`{name}`")) for f in self.found))

    def packed(self) -> str:
        # The first letter is all that Spark looks at.
        return ("E" if self.is_bad else "W") + json.dumps([self.text, self.found, self.line])


def unpacked_note(packed: str) -> Note:
    """Also of a note that Spark has made: code, message and text on a line each, the text perhaps on more."""
    if not packed.startswith("[", 1):
        code, message, text = packed[1:].split("\n", 2)
        return Note(text, (Found(code, message),))
    text, found, line = json.loads(packed[1:])
    return Note(text, tuple(Found(*item) for item in found), line)


def note_of(diagnostics: Sequence[Diagnostic], text: str | None = None) -> Note:
    """The problems of one record, whose text is that of their place unless it is given."""
    span = diagnostics[0].span
    found = tuple(Found(d.code, d.message, d.span.start, d.span.end, d.note) for d in diagnostics)
    return Note(span.file.text if text is None else text, found, span.file.first_line)


def report_notes(report: Report, name: str, notes: Sequence[Note], directive: Span) -> None:
    """Adds the problems of a file or table, with their places in it or, where nobody knows them, the directive's."""
    for note in notes:
        for found in note.found:
            if note.line:
                span, message = Span(SourceFile(name, note.text, note.line), found.start, found.end), found.message
            else:
                span, message = directive, f"{name}: {found.message}, in the row `{note.text}`"
            add = report.error if found.code.startswith("E") else report.warning
            add(found.code, message, span, note=found.remedy)


def with_note(table: pa.Table) -> pa.Table:
    """Rows, none of which has a note."""
    import pyarrow as pa

    return table.append_column(NOTE, pa.nulls(table.num_rows, pa.string()))


def noted_rows(schema: Schema, notes: Sequence[str]) -> pa.RecordBatch:
    """Notes as rows without values."""
    import pyarrow as pa

    types = [arrow_type(kind) for kind in schema.kinds()] or [pa.int64()]
    nulls = [pa.nulls(len(notes), type_) for type_ in types]
    return pa.record_batch([*nulls, pa.array(notes, pa.string())], names=[*places(len(schema.columns)), NOTE])

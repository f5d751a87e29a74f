"""Tasks that read whole files into plain rows: formats whose records are not lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from flintlog.diagnostics import Report
from flintlog.engines.spark.data.plain import plain_table
from flintlog.engines.spark.data.sources.notes import Note, located_notes, note_of, noted_rows, with_note
from flintlog.io import read_facts
from flintlog.io.schema import Schema
from flintlog.types import Row

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class FileJob:
    """The relation and parameters of the directive; `suffix` is that of its files."""

    relation: str
    schema: Schema
    params: Mapping[str, str]
    suffix: str


def read_files(job: FileJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows and notes of files. The batches have the files' paths and contents."""
    for batch in batches:
        for content in batch.column(1):
            rows, notes = _read(job, content.as_buffer())
            yield from with_note(plain_table(job.schema, rows)).to_batches()
            if notes:
                yield noted_rows(job.schema, [note.packed() for note in notes])


def locate_file_notes(job: FileJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The notes without the rows, with the paths of their files. They have their lines."""
    for batch in batches:
        for path, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            _, notes = _read(job, content.as_buffer())
            yield located_notes(path, 0, list(enumerate(notes)))


def _read(job: FileJob, content: pa.Buffer) -> tuple[list[Row], list[Note]]:
    """The rows and notes of a file with this content, read by the readers of single files."""
    report = Report()
    with TemporaryDirectory() as folder:
        # Messages contain the file's name, which `with_name` will replace by the real one.
        path = Path(folder) / f"facts{job.suffix}"
        path.write_bytes(content)
        rows = read_facts(
            job.relation,
            job.schema.columns,
            {**job.params, "filename": str(path)},
            job.schema.types,
            facts_dir=Path(folder),
            word_size=job.schema.word_size,
            report=report,
        )
        notes = [note_of([diagnostic]) for diagnostic in (*report.errors, *report.warnings)]
        named = [note.without_name(str(path)) for note in notes]
    return rows, named

"""Whole files into plain rows, inside of tasks: formats whose records may stand on several lines, or on none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from flintlog.diagnostics import Report
from flintlog.engines.spark.data.plain import plain_table
from flintlog.engines.spark.data.sources.notes import NOTE, Note, note_of, noted_rows, with_note
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
    """Rows and notes of files, which come as their path and their bytes."""
    for batch in batches:
        for content in batch.column(1):
            rows, notes = _read(job, content.as_buffer())
            yield from with_note(plain_table(job.schema, rows)).to_batches()
            if notes:
                yield noted_rows(job.schema, [note.packed() for note in notes])


def read_file_places(job: FileJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The notes alone, with the paths of their files; they know their lines."""
    import pyarrow as pa

    for batch in batches:
        for path, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            _, notes = _read(job, content.as_buffer())
            yield pa.record_batch(
                {
                    "file": pa.array([path] * len(notes), pa.string()),
                    "start": pa.array([0] * len(notes), pa.int64()),
                    "index": pa.array(list(range(len(notes))), pa.int64()),
                    NOTE: pa.array([note.packed() for note in notes], pa.string()),
                }
            )


def _read(job: FileJob, content: pa.Buffer) -> tuple[list[Row], list[Note]]:
    """What the readers of single files make of a file with this content."""
    report = Report()
    with TemporaryDirectory() as folder:
        # A file's name is part of messages, where the real one takes its place.
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

"""Facts into plain frames: from what an `.input` names, from rows in Python, from a DataFrame in hand.

Small files of this machine are read by the driver, which needs no job for that. Everything else Spark reads; where
records may be bad, one job looks for them and keeps what it has read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic
from flintlog.engines.spark.driver_source import read_files_here, read_here, read_lines_here
from flintlog.engines.spark.frames import estimated_bytes, frame_of, known_rows, release, table_behind
from flintlog.engines.spark.line_tasks import LineJob
from flintlog.engines.spark.locations import Location, is_hidden, locate
from flintlog.engines.spark.plain import NULLARY, plain_table
from flintlog.engines.spark.source import Source
from flintlog.engines.spark.text_source import read_by_files, read_by_lines
from flintlog.io.column_facts import ColumnFacts
from flintlog.io.parameters import dialect
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import Row, TypeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["estimated_bytes", "known_rows", "plain_from_rows", "read_source", "release", "table_behind"]

# Files of this machine of at most so many bytes together are read by the driver.
READ_HERE = 32 << 20
# What Spark unpacks by the ending of a file's name.
_PACKED = (".bz2", ".deflate", ".lz4", ".snappy", ".zst")


def read_source(
    spark: SparkSession,
    relation: Relation,
    directive: IoDirective,
    types: TypeTable,
    facts_dir: Path | str,
    *,
    word_size: int = 64,
    bad_records: str = "refuse",
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None,
) -> DataFrame:
    """The plain frame of what an `.input` directive names, duplicates included. FlintlogError where it cannot be read
    or does not fit the declaration. `bad_records` is "refuse" or a directory for them; `notify` gets warnings."""
    params = dict(directive.params)
    schema = Schema(params.get("name", relation.name), relation.columns, types, word_size)
    source = Source(spark, relation, schema, params, facts_dir, bad_records, notify, directive.span)
    kind = params.get("IO", "file")
    return _delimited(source)


def plain_from_rows(
    spark: SparkSession, relation: Relation, rows: Iterable[Row] | ColumnFacts, types: TypeTable, word_size: int = 64
) -> DataFrame:
    """The plain frame of rows of Python values, or of columns of them."""
    schema = Schema(relation.name, relation.columns, types, word_size)
    names = [column.name for column in relation.columns] or [NULLARY]
    return frame_of(spark, plain_table(schema, rows), names)


def _delimited(source: Source) -> DataFrame:
    layout = dialect(source.params, len(source.schema.columns), source.span)
    location = locate(source.relation.name, source.params, source.facts_dir, ".facts")
    if location is None or not layout.delimiter:
        return read_here(source)  # which says what is missing
    job = LineJob(source.schema, layout)
    if location.is_here and _belongs_here(location):
        if source.refuses or layout.rfc4180:
            return read_files_here(source, location.files)
        return read_lines_here(source, job, location.files)
    if layout.rfc4180:
        return read_by_files(source, location, ".facts")
    return read_by_lines(source, location, job)


def _belongs_here(location: Location) -> bool:
    """Whether the driver reads some files: small ones, and those in which Spark sees something else."""
    if not location.files:
        return True
    if any(file.name.endswith(_PACKED) for file in location.files):
        return False
    return location.size <= READ_HERE or any(is_hidden(file) or _is_odd(file) for file in location.files)


def _is_odd(file: Path) -> bool:
    """Packed, which Spark tells by the name and others by the first bytes, or with a byte order mark, which Spark
    leaves out."""
    with file.open("rb") as stream:
        begin = stream.read(3)
    return begin.startswith(b"\x1f\x8b") != file.name.endswith(".gz") or begin == b"\xef\xbb\xbf"

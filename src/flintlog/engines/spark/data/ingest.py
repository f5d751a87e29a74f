"""Makes plain frames of facts: of the source of an `.input` directive, of rows in Python, or of a user's DataFrame.

The driver reads small files of this machine, which takes no job. Spark reads all other sources; if records may be bad,
one job looks for them, and the rows that it has read are persisted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic
from flintlog.engines.spark.data.frames import estimated_bytes, known_rows, promised_frame_of, table_behind
from flintlog.engines.spark.data.locations import Location, is_hidden, locate
from flintlog.engines.spark.data.plain import NULLARY, plain_table
from flintlog.engines.spark.data.retained import release
from flintlog.engines.spark.data.sources.driver_source import read_files_here, read_here, read_lines_here
from flintlog.engines.spark.data.sources.line_tasks import LineJob
from flintlog.engines.spark.data.sources.plain_source import Source
from flintlog.engines.spark.data.sources.table_source import (
    fitted,
    read_catalog_table,
    read_database,
    read_files_of,
    read_format,
)
from flintlog.engines.spark.data.sources.text_source import read_by_files, read_by_lines
from flintlog.io.column_facts import ColumnFacts
from flintlog.io.parameters import dialect, relation_name, unknown_format
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import Row, TypeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "estimated_bytes",
    "known_rows",
    "plain_from_frame",
    "plain_from_rows",
    "read_source",
    "release",
    "table_behind",
]

# Files of this machine of at most so many bytes together are read by the driver.
READ_HERE = 32 << 20
# Spark unpacks files whose names end like this.
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
    """The plain frame of an `.input` directive's facts, with duplicates. FlintlogError if they cannot be read, or do
    not fit the declaration. `bad_records` is "refuse" or a directory for bad records; `notify` gets warnings."""
    params = dict(directive.params)
    schema = Schema(params.get("name", relation.name), relation.columns, types, word_size)
    source = Source(spark, relation, schema, params, facts_dir, bad_records, notify, directive.span)
    return _reader(source)(source)


def plain_from_frame(
    relation: Relation,
    frame: DataFrame,
    types: TypeTable,
    *,
    word_size: int = 64,
    bad_records: str = "refuse",
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None,
) -> DataFrame:
    """The plain frame of a user's DataFrame. Its columns are matched by name if the names fit, otherwise by position.
    FlintlogError if the columns do not fit the declaration, or values do not fit and are refused."""
    schema = Schema(relation.name, relation.columns, types, word_size)
    source = Source(frame.sparkSession, relation, schema, {}, Path(), bad_records, notify, relation.span)
    return fitted(source, frame, "the DataFrame", "E908")


def plain_from_rows(
    spark: SparkSession, relation: Relation, rows: Iterable[Row] | ColumnFacts, types: TypeTable, word_size: int = 64
) -> DataFrame:
    """The plain frame of rows of Python values, or of columns of them."""
    schema = Schema(relation.name, relation.columns, types, word_size)
    names = [column.name for column in relation.columns] or [NULLARY]
    return promised_frame_of(spark, plain_table(schema, rows), names)


def _reader(source: Source) -> Callable[[Source], DataFrame]:
    kind = source.params.get("IO", "file")
    if kind not in _READERS:
        raise unknown_format(kind, "input", list(_READERS), source.span)
    return _READERS[kind]


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


def _json_lines(source: Source) -> DataFrame:
    location = locate(source.relation.name, source.params, source.facts_dir, ".jsonl")
    if location is None:
        return read_here(replace(source, params=_as_file(source, ".jsonl")))  # which says that it is missing
    job = LineJob(source.schema, None)
    if location.is_here and _belongs_here(location):
        return read_lines_here(source, job, location.files)
    return read_by_lines(source, location, job)


def _as_file(source: Source, suffix: str) -> dict[str, str]:
    """Parameters with which the reader of single files raises the error for a file that it cannot read."""
    return {"filename": relation_name(source.relation.name, source.params) + suffix, **source.params, "IO": "file"}


def _json(source: Source) -> DataFrame:
    """The named or existing file; otherwise standard input, as in every engine."""
    location = locate(source.relation.name, source.params, source.facts_dir, ".json")
    return _whole(source, ".json") if "filename" in source.params or location is not None else read_here(source)


def _whole(source: Source, suffix: str) -> DataFrame:
    location = locate(source.relation.name, source.params, source.facts_dir, suffix)
    if location is None:
        return read_here(source)  # which says what is missing
    if location.is_here and (len(location.files) == 1 or _belongs_here(location)):
        return read_files_here(source, location.files)
    return read_by_files(source, location, suffix)


def _parquet(source: Source) -> DataFrame:
    location = locate(source.relation.name, source.params, source.facts_dir, ".parquet")
    if location is None:
        return read_here(source)  # which says what is missing
    if source.refuses and location.is_here and location.directory is None and _belongs_here(location):
        return read_files_here(source, location.files)
    return read_files_of(source, location, "parquet")


def _orc(source: Source) -> DataFrame:
    location = locate(source.relation.name, source.params, source.facts_dir, ".orc")
    if location is None:
        return read_here(replace(source, params=_as_file(source, ".orc")))
    return read_files_of(source, location, "orc")


def _spark(source: Source) -> DataFrame:
    if "filename" not in source.params:
        return read_format(source, None)
    location = locate(source.relation.name, source.params, source.facts_dir, "")
    if location is None:
        return read_here(replace(source, params=_as_file(source, "")))
    return read_format(source, location)


_READERS: dict[str, Callable[[Source], DataFrame]] = {
    "file": _delimited,
    "csv": _delimited,
    "stdin": read_here,
    "json": _json,
    "jsonfile": partial(_whole, suffix=".json"),
    "jsonl": _json_lines,
    "sqlite": read_here,
    "parquet": _parquet,
    "arrow": partial(_whole, suffix=".arrow"),
    "orc": _orc,
    "jdbc": read_database,
    "table": read_catalog_table,
    "spark": _spark,
}


def _belongs_here(location: Location) -> bool:
    """Whether the driver reads these files: small ones, and those that Spark would read differently."""
    if not location.files or any(is_hidden(file) for file in location.files):
        return True
    if any(file.name.endswith(_PACKED) for file in location.files):
        return False
    return location.size <= READ_HERE or any(map(_is_odd, location.files))


def _is_odd(file: Path) -> bool:
    """Whether Spark would read a file differently: Spark goes by the name, not the first bytes, to see that it is
    packed, and drops a byte order mark. True also for unreadable files, for which the driver has the error messages."""
    try:
        with file.open("rb") as stream:
            begin = stream.read(3)
    except OSError:
        return True
    return begin.startswith(b"\x1f\x8b") != file.name.endswith(".gz") or begin == b"\xef\xbb\xbf"

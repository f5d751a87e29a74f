"""Text that Spark reads: lines in many tasks, and files that have to be read as a whole in one task each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.locations import Location
from flintlog.engines.spark.data.retained import read_anew
from flintlog.engines.spark.data.sources.bad_records import LocatedNotes, settled
from flintlog.engines.spark.data.sources.file_tasks import FileJob, locate_file_notes, read_files
from flintlog.engines.spark.data.sources.line_tasks import LineJob, locate_line_notes, read_lines
from flintlog.engines.spark.data.sources.notes import LOCATED_DDL
from flintlog.engines.spark.data.sources.plain_source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def read_by_lines(source: Source, location: Location, job: LineJob) -> DataFrame:
    """The plain frame of text files with a record on each line."""
    from pyspark.sql import functions as fn

    addresses = list(location.addresses)
    lines = read_anew(source.opened(lambda: source.spark.read.text(addresses, lineSep="\n"), location.name))
    path, start = fn.col("_metadata.file_path"), fn.col("_metadata.file_block_start")
    # A hash, since the path itself is longer than most lines.
    marks = [fn.xxhash64(path).alias("file"), start.alias("start")]
    wanted = [fn.col("value"), *(marks if job.skips_headers else [])]
    parsed = lines.select(*wanted).mapInArrow(partial(read_lines, job), source.noted_ddl)

    def located() -> LocatedNotes:
        whole = lines.select("value", path.alias("file"), start.alias("start"))
        notes = whole.mapInArrow(partial(locate_line_notes, job), LOCATED_DDL)
        return LocatedNotes(notes, whole.groupBy("file", "start").count(), _names(location))

    return settled(source, location.name, parsed, located)


def read_by_files(source: Source, location: Location, suffix: str) -> DataFrame:
    """The plain frame of files each of which is read as a whole."""
    addresses = list(location.addresses)
    files = read_anew(source.opened(lambda: source.spark.read.format("binaryFile").load(addresses), location.name))
    job = FileJob(source.relation.name, source.schema, dict(source.params), suffix)
    whole = files.select("path", "content")
    parsed = whole.mapInArrow(partial(read_files, job), source.noted_ddl)

    def located() -> LocatedNotes:
        return LocatedNotes(whole.mapInArrow(partial(locate_file_notes, job), LOCATED_DDL), None, _names(location))

    return settled(source, location.name, parsed, located)


def _names(location: Location) -> Mapping[str, str]:
    """Messages call a single file by the user's name for it."""
    if len(location.files) != 1:
        return {}
    return {f"file:{location.files[0].absolute()}": str(location.files[0])}

"""Text that Spark reads: lines in many tasks, and files that only make sense as a whole in one task each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.locations import Location
from flintlog.engines.spark.data.plain import plain_ddl
from flintlog.engines.spark.data.retained import never_kept
from flintlog.engines.spark.data.sources.bad_records import PLACED_DDL, Placed, settled
from flintlog.engines.spark.data.sources.file_tasks import FileJob, read_file_places, read_files
from flintlog.engines.spark.data.sources.line_tasks import LineJob, read_lines, read_places
from flintlog.engines.spark.data.sources.notes import NOTE
from flintlog.engines.spark.data.sources.plain_source import Source, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def read_by_lines(source: Source, location: Location, job: LineJob) -> DataFrame:
    """The plain frame of text of which every line is a record."""
    from pyspark.sql import functions as fn

    lines = _opened(source, location, lambda: source.spark.read.text(list(location.addresses), lineSep="\n"))
    path, start = fn.col("_metadata.file_path"), fn.col("_metadata.file_block_start")
    # The path of every line would be longer than most lines.
    marks = [fn.xxhash64(path).alias("file"), start.alias("start")]
    wanted = [fn.col("value"), *(marks if job.skips_headers else [])]
    parsed = lines.select(*wanted).mapInArrow(partial(read_lines, job), _with_notes(source))

    def placed() -> Placed:
        whole = lines.select("value", path.alias("file"), start.alias("start"))
        notes = whole.mapInArrow(partial(read_places, job), PLACED_DDL)
        return Placed(notes, whole.groupBy("file", "start").count(), _names(location))

    return settled(source, location.name, parsed, placed)


def read_by_files(source: Source, location: Location, suffix: str) -> DataFrame:
    """The plain frame of files that are read as a whole, one by one."""
    addresses = list(location.addresses)
    files = _opened(source, location, lambda: source.spark.read.format("binaryFile").load(addresses))
    job = FileJob(source.relation.name, source.schema, dict(source.params), suffix)
    whole = files.select("path", "content")
    parsed = whole.mapInArrow(partial(read_files, job), _with_notes(source))

    def placed() -> Placed:
        return Placed(whole.mapInArrow(partial(read_file_places, job), PLACED_DDL), None, _names(location))

    return settled(source, location.name, parsed, placed)


def _opened(source: Source, location: Location, reader: Callable[[], DataFrame]) -> DataFrame:
    """What a reader of Spark gives. FlintlogError where there is nothing to read, before any job."""
    try:
        frame = reader()
        frame.schema  # noqa: B018 # a client of Spark Connect asks the server only now
    except spark_errors() as error:
        raise source.unopened(location.name, error) from error
    return never_kept(frame)


def _with_notes(source: Source) -> str:
    return f"{plain_ddl(source.schema.kinds())}, {NOTE} string"


def _names(location: Location) -> Mapping[str, str]:
    """A single file is called what the user calls it."""
    if len(location.files) != 1:
        return {}
    return {f"file:{location.files[0].absolute()}": str(location.files[0])}

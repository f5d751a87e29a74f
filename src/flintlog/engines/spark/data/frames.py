"""DataFrames of rows that are on the driver, and what is known of a DataFrame without running a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from flintlog.engines.spark.data.retained import share
from flintlog.engines.spark.sessions.session import is_connect

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

# Smaller tables travel inside of plans, where Spark knows their size. Larger ones would be slow there: Spark makes rows
# of them, and sends all to every task.
INSIDE_PLANS = 1 << 20
_BYTES_A_PARTITION = 64 << 20
_SQL = {"int64": "bigint", "double": "double", "string": "string", "bool": "boolean"}
_SQL["decimal128(20, 0)"] = "decimal(20,0)"
_THRESHOLD = "spark.sql.execution.arrow.localRelationThreshold"
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

_tables: WeakKeyDictionary[DataFrame, pa.Table] = WeakKeyDictionary()
_rows: WeakKeyDictionary[DataFrame, int] = WeakKeyDictionary()
_configuring = Lock()


def frame_of(spark: SparkSession, table: pa.Table, names: list[str] | None = None) -> DataFrame:
    """A DataFrame of few partitions, without a job. `table_behind` knows the table. `names` are for the columns."""
    # In one piece: a batch that Python hands over becomes a partition.
    whole = table.combine_chunks()
    if not table.num_rows:
        # A client of Spark Connect does not look at the types of a table without rows.
        frame = spark.createDataFrame([], ", ".join(f"`{f.name}` {_SQL[str(f.type)]}" for f in table.schema))
    elif is_connect(spark) or table.nbytes <= INSIDE_PLANS:
        frame = spark.createDataFrame(whole)
    else:
        with _setting(spark, _THRESHOLD, "0"):
            frame = spark.createDataFrame(whole)
        slots = spark.sparkContext.defaultParallelism
        wanted = max(slots, -(-table.nbytes // _BYTES_A_PARTITION))
        if -(-table.num_rows // int(spark.conf.get(_BATCH) or 1)) > 2 * wanted:
            frame = frame.coalesce(wanted)
    if names is not None:
        frame = frame.toDF(*names)
    return with_table(frame, table)


class _Promised:
    """Stands for the DataFrame of a table until somebody asks it for something. Making one takes all rows into Java,
    and tasks that carry the table have no use for that."""

    def __init__(self, make: Callable[[], DataFrame]) -> None:
        self._make: Callable[[], DataFrame] | None = make
        self._made: DataFrame | None = None
        self._making = Lock()

    def frame(self) -> DataFrame:
        with self._making:
            if self._make is not None:
                self._made, self._make = self._make(), None
        assert self._made is not None
        return self._made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.frame(), name)

    def __getitem__(self, item: Any) -> Any:
        return self.frame()[item]


def promised_frame_of(spark: SparkSession, table: pa.Table, names: list[str] | None = None) -> DataFrame:
    """As `frame_of`, but made when it is first used. Whoever hands it to the user hands over what `made` gives."""
    return with_table(cast("DataFrame", _Promised(lambda: frame_of(spark, table, names))), table)


def made(frame: DataFrame) -> DataFrame:
    """The DataFrame itself, where something stands for it."""
    return frame.frame() if isinstance(frame, _Promised) else frame


def with_table(frame: DataFrame, table: pa.Table) -> DataFrame:
    """The same DataFrame; `table_behind` then knows its rows."""
    _tables[frame] = table
    return frame


def table_behind(frame: DataFrame) -> pa.Table | None:
    """The rows of a DataFrame that was made here of rows on the driver, with the same columns in the same order."""
    return _tables.get(frame)


def with_known_rows(frame: DataFrame, rows: int | None) -> DataFrame:
    """The same DataFrame; `known_rows` then knows how many rows it has."""
    if rows is not None:
        _rows[frame] = rows
    return frame


def known_rows(frame: DataFrame) -> int | None:
    """How many rows a DataFrame has, if a job has counted them before; duplicates count."""
    table = _tables.get(frame)
    return table.num_rows if table is not None else _rows.get(frame)


def estimated_bytes(frame: DataFrame) -> int | None:
    """How large the rows are, by what Spark's optimizer thinks; None where it does not know. Runs no job."""
    table = _tables.get(frame)
    if table is not None:
        return int(table.nbytes)
    plan: Any = getattr(frame, "_jdf", None)
    if plan is None:
        return None
    size = int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
    # Of what Spark knows nothing, it says the greatest number there is, or multiples of it.
    return size if size < 1 << 60 else None


def union_of(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of DataFrames with the same columns; what is known of all of them is known of the union."""
    import pyarrow as pa

    first, *rest = frames
    if not rest:
        return first
    union = made(first)
    for frame in rest:
        union = union.union(made(frame))
    tables = [table for frame in frames if (table := table_behind(frame)) is not None]
    rows = [known_rows(frame) for frame in frames]
    if len(tables) == len(frames):
        with_table(union, pa.concat_tables([table.rename_columns(tables[0].column_names) for table in tables]))
    with_known_rows(union, None if None in rows else sum(count or 0 for count in rows))
    share(union, frames)
    return union


@contextmanager
def _setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """The caller's session gets its own value back."""
    with _configuring:
        before = spark.conf.get(key, None)
        spark.conf.set(key, value)
        try:
            yield
        finally:
            if before is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, before)

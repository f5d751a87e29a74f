"""DataFrames of rows that are on the driver, and facts about DataFrames that take no job: rows, sizes, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from flintlog.engines.spark.data.retained import share_leases
from flintlog.engines.spark.sessions.masters import is_connect

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

# Smaller tables travel inside plans, where Spark knows their size. Larger tables would be slow there, since Spark makes
# rows of them and sends all rows to every task.
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
    """A DataFrame of a table, with few partitions and without a job. `names` are for the columns. `table_behind`
    returns the table."""
    # In one piece, since every batch becomes a partition.
    whole = table.combine_chunks()
    if not table.num_rows:
        # A client of Spark Connect ignores the types of a table without rows.
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
    """Stands for the DataFrame of a table, and makes it at the first access to an attribute. Making it copies all rows
    into Java, for which tasks that carry the table have no use."""

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
    """As `frame_of`, but made when it is first used. To be replaced by `made(frame)` before the user gets it."""
    return with_table(cast("DataFrame", _Promised(lambda: frame_of(spark, table, names))), table)


def made(frame: DataFrame) -> DataFrame:
    """The DataFrame itself, also for a promised one."""
    return frame.frame() if isinstance(frame, _Promised) else frame


def with_table(frame: DataFrame, table: pa.Table) -> DataFrame:
    """The same DataFrame; from now on `table_behind` returns its rows."""
    _tables[frame] = table
    return frame


def table_behind(frame: DataFrame) -> pa.Table | None:
    """The rows of a DataFrame that was made of rows on the driver, with the same columns in the same order."""
    return _tables.get(frame)


def with_known_rows(frame: DataFrame, rows: int | None) -> DataFrame:
    """The same DataFrame; from now on `known_rows` returns its number of rows."""
    if rows is not None:
        _rows[frame] = rows
    return frame


def known_rows(frame: DataFrame) -> int | None:
    """The number of rows of a DataFrame with duplicates, if it is known without a job."""
    table = _tables.get(frame)
    return table.num_rows if table is not None else _rows.get(frame)


def estimated_bytes(frame: DataFrame) -> int | None:
    """The size of a DataFrame as Spark's optimizer estimates it; None if it cannot. Runs no job."""
    table = _tables.get(frame)
    if table is not None:
        return int(table.nbytes)
    plan: Any = getattr(frame, "_jdf", None)
    if plan is None:
        return None
    size = int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
    # For a source of unknown size, Spark's estimate is the greatest number, or a multiple of it.
    return size if size < 1 << 60 else None


def union_of(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of DataFrames with the same columns. If the rows or tables of all are known, so are those of the
    union."""
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
    share_leases(union, frames)
    return union


@contextmanager
def _setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """Sets an option of the session for a while."""
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

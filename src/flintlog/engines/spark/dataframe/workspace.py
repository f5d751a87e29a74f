"""Where plans are made and rows are kept: a session of our own beside the user's, with settings that suit rounds.

Sessions of one application share its executors and what they keep, but not their settings. Spark Connect has no such
thing to offer: there the user's session serves, with the settings it has (see connect.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from flintlog.engines.spark.dataframe.leaves import Leaves, release_plan
from flintlog.engines.spark.frames import with_known_rows
from flintlog.engines.spark.masters import is_local

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame, SparkSession

# Of plans that run once for every round: how to join is said in hints, from numbers of rows.
_SETTINGS_OF_ROUNDS = {
    # One job a round: adaptive plans make a job of every shuffle, and plan anew after each.
    "spark.sql.adaptive.enabled": "false",
    # Spark would go by products of guesses.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.defaultSizeInBytes": "1",
    "spark.sql.maxSinglePartitionBytes": str((1 << 63) - 1),
    # Columns of words are never null, and what else could be inferred is not worth the time.
    "spark.sql.constraintPropagation.enabled": "false",
}
_SETTINGS = {
    # Rows that are in their places by some of the columns are so by all of them.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # A union is taken for placed by its columns in some versions when it is not.
    "spark.sql.unionOutputPartitioning": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
_PARTITIONS = "spark.sql.shuffle.partitions"


# Sessions of our own that nobody uses, by application: to make one takes longer than a round.
_idle: dict[str, list[Leaves]] = {}
# Frames that were handed over, with what executors keep for them and how to give it back.
_handed_over: WeakKeyDictionary[DataFrame, list[tuple[DataFrame, Callable[[DataFrame], None]]]] = WeakKeyDictionary()


@dataclass(eq=False)
class Kept:
    """Rows that executors keep, how many there are, and the name of their view."""

    frame: DataFrame
    rows: int
    view: str


class Workspace:
    """Views and kept frames of one stratum. Whatever is made here goes with `close`, but what was handed over."""

    def __init__(self, spark: SparkSession) -> None:
        self.users = spark
        self.spark: SparkSession = self._start(spark)
        self._prefix = f"flintlog_{uuid4().hex[:12]}"
        self._number = 0
        self._views: set[str] = set()
        self._kept: set[Kept] = set()

    def _start(self, spark: SparkSession) -> SparkSession:
        """The session for plans: one that a stratum before has done with, or a new one."""
        self._level = _storage_level(spark)
        idle = _idle.get(spark.sparkContext.applicationId, [])
        if idle:
            self._leaves = idle.pop()
        else:
            self._leaves = Leaves(spark.newSession())
            for key, value in _SETTINGS.items():
                self._leaves.session.conf.set(key, value)
        return self._leaves.session

    def spread(self, partitions: int, *, adaptive: bool = False) -> None:
        """How many parts shuffles of coming plans have. With `adaptive`, Spark looks at the rows while it runs, and
        decides how to go on: jobs take longer, and skewed ones end."""
        self.spark.conf.set(_PARTITIONS, str(partitions))
        for key, value in _SETTINGS_OF_ROUNDS.items():
            if adaptive:
                self.spark.conf.unset(key)
            else:
                self.spark.conf.set(key, value)
        if adaptive:
            self.spark.conf.set("spark.sql.adaptive.enabled", "true")

    # --- Views ------------------------------------------------------------------------------------

    def sql(self, text: str) -> DataFrame:
        return self.spark.sql(text)

    def view(self, frame: DataFrame) -> str:
        """A name for a frame, to be used in SQL."""
        self._number += 1
        name = f"{self._prefix}_{self._number}"
        frame.createOrReplaceTempView(name)
        self._views.add(name)
        return name

    def forget(self, view: str) -> None:
        """Takes a name away."""
        if view in self._views:
            self._views.remove(view)
            self.spark.catalog.dropTempView(view)

    def adopted(self, frame: DataFrame) -> DataFrame:
        """A frame of the user's session, in this one."""
        return self._leaves.frame(frame._jdf.queryExecution().analyzed())

    # --- Rows -------------------------------------------------------------------------------------

    def keep(self, frames: Sequence[DataFrame]) -> list[Kept]:
        """Computes frames in one job, and cuts off what they were computed from."""
        kept = [Kept(frame, rows, self.view(frame)) for frame, rows in self._computed(frames)] if frames else []
        self._kept.update(kept)
        return kept

    def _computed(self, frames: Sequence[DataFrame]) -> list[tuple[DataFrame, int]]:
        level = self._level
        lazy = [self._leaves.leaf_of(frame.localCheckpoint(eager=False, storageLevel=level)) for frame in frames]
        return list(zip(lazy, _counted(lazy), strict=True))

    def free(self, kept: Kept) -> None:
        """Gives back the room that rows take."""
        if kept in self._kept:
            self._kept.remove(kept)
            self.forget(kept.view)
            self.release(kept.frame)

    def forget_all(self) -> None:
        """Gives back all rows that are kept."""
        for kept in list(self._kept):
            self.free(kept)

    def remove(self, path: str) -> None:
        """Removes a directory of files that Spark has written."""
        java: Any = self.spark.sparkContext._jvm
        place = java.org.apache.hadoop.fs.Path(path)
        place.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf()).delete(place, True)

    @staticmethod
    def release(frame: DataFrame) -> None:
        """Gives back what executors keep of one frame."""
        release_plan(frame._jdf.queryExecution().analyzed())

    def handed_over(self, parts: Sequence[Kept]) -> DataFrame:
        """The rows of kept parts together, in the user's session. They are the caller's from now on."""
        frame = parts[0].frame
        for part in parts[1:]:
            frame = frame.unionAll(part.frame)
        self._kept.difference_update(parts)
        result = with_known_rows(self._of_user(frame), sum(part.rows for part in parts))
        _handed_over[result] = [(part.frame, self.release) for part in parts]
        return result

    def handed_over_file(self, frame: DataFrame, path: str, rows: int) -> DataFrame:
        """A frame of the user's session that reads files; they go when it is released."""
        _handed_over[frame] = [(frame, lambda _: self.remove(path))]
        return with_known_rows(frame, rows)

    @property
    def may_lose_rows(self) -> bool:
        """Whether executors may go, and take with them what they keep."""
        return self._level.replication > 1

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return Leaves(self.users).frame(frame._jdf.queryExecution().analyzed())

    def close(self) -> None:
        self.forget_all()
        for view in list(self._views):
            self.forget(view)
        self._end()

    def _end(self) -> None:
        application = self.spark.sparkContext.applicationId
        for other in [name for name in _idle if name != application]:
            del _idle[other]
        _idle.setdefault(application, []).append(self._leaves)


def _storage_level(spark: SparkSession) -> StorageLevel:
    """Where rows are kept: on clusters twice, so that they do not go with an executor."""
    from pyspark import StorageLevel

    local = is_local(spark.sparkContext.master or "")
    return StorageLevel.MEMORY_AND_DISK_DESER if local else StorageLevel(True, True, False, True, 2)


def release(frame: DataFrame) -> None:
    """Gives back what executors keep for a frame that `run_stratum` has returned."""
    for part, give_back in _handed_over.pop(frame, ()):
        give_back(part)


def _counted(frames: Sequence[DataFrame]) -> list[int]:
    """Runs one job over all frames; the rows of each."""
    executions = [frame._jdf.queryExecution() for frame in frames]
    rows = [execution.toRdd() for execution in executions]
    together = rows[0]
    for more in rows[1:]:
        together = together.union(more)
    total = int(together.count())
    if len(frames) == 1:
        return [total]
    counts = [_scanned(execution) for execution in executions]
    # What tasks report on the way may be counted twice after a failure; what they return may not.
    return counts if sum(counts) == total else [int(part.count()) for part in rows]


def _scanned(execution: Any) -> int:
    """How many rows the scan at the bottom of a plan says it has read."""
    leaf = execution.executedPlan().collectLeaves().head()
    return int(leaf.metrics().apply("numOutputRows").value())

"""Where plans are made and rows are kept: a session of our own beside the user's, with settings that suit rounds.

Sessions of one application share its executors and what they keep, but not their settings. Spark Connect has no such
thing to offer: there the user's session serves, with the settings it has (see connect.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4
from weakref import WeakKeyDictionary

from flintlog.engines.spark.data.frames import with_known_rows
from flintlog.engines.spark.dataframe import settings
from flintlog.engines.spark.dataframe.logical_leaves import Leaf, Leaves, frame_of_plan
from flintlog.engines.spark.sessions.masters import is_local
from flintlog.engines.spark.sessions.session import before_end

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame, SparkSession

# Sessions of our own that nobody uses, by application: to make one takes longer than a round.
_idle: dict[str, list[Leaves]] = {}
# Frames that were handed over, with what gives back the rows that are kept for them.
_handed_over: WeakKeyDictionary[DataFrame, list[Callable[[], None]]] = WeakKeyDictionary()


class Source(Protocol):
    """Rows that executors keep."""

    @property
    def frame(self) -> DataFrame: ...

    def release(self) -> None:
        """They need not keep them any more."""


@dataclass(eq=False)
class Kept:
    """Rows that executors keep, how many there are, and the name of their view."""

    source: Source
    rows: int
    view: str

    @property
    def frame(self) -> DataFrame:
        return self.source.frame


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
        try:
            self._leaves = _idle[spark.sparkContext.applicationId].pop()
        except (KeyError, IndexError):
            self._leaves = Leaves(spark.newSession())
            for key, value in settings.ALWAYS.items():
                self._leaves.session.conf.set(key, value)
        settings.follow(self._leaves.session, spark)
        return self._leaves.session

    def spread(self, partitions: int, *, adaptive: bool = False) -> None:
        """How many parts shuffles of coming plans have. With `adaptive`, Spark looks at the rows while it runs, and
        decides how to go on: jobs take longer, and skewed ones end."""
        self.spark.conf.set(settings.PARTITIONS, str(partitions))
        for key, value in self._leaves.settings_of_rounds.items():
            if adaptive:
                self.spark.conf.unset(key)
            else:
                self.spark.conf.set(key, value)
        if adaptive:
            self.spark.conf.set(settings.ADAPTIVE, "true")

    # --- Views ------------------------------------------------------------------------------------

    def sql(self, text: str) -> DataFrame:
        return self.spark.sql(text)

    def view(self, frame: DataFrame) -> str:
        """A name for a frame, to be used in SQL."""
        name = self._new_name()
        frame.createOrReplaceTempView(name)
        return name

    def _new_name(self) -> str:
        self._number += 1
        name = f"{self._prefix}_{self._number}"
        self._views.add(name)
        return name

    def forget(self, view: str) -> None:
        """Takes a name away."""
        if view in self._views:
            self._views.remove(view)
            self._drop(view)

    def _drop(self, view: str) -> None:
        self._leaves.forget(view)

    def table(self, rows: Sequence[tuple[Any, ...]], columns: str) -> DataFrame:
        """A frame of rows that are here."""
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        try:
            return self.spark.createDataFrame(rows, columns)
        finally:
            # Whoever makes a frame is the active session from then on; that must stay the user's.
            if active is not None and active is not self.spark:
                SparkSession._activeSession = active
                java: Any = active._jvm
                java.SparkSession.setActiveSession(active._jsparkSession)

    def adopted(self, frame: DataFrame) -> DataFrame:
        """A frame of the user's session, in this one."""
        return frame_of_plan(self.spark, frame._jdf.queryExecution().analyzed())

    # --- Rows -------------------------------------------------------------------------------------

    def keep(self, frames: Sequence[DataFrame]) -> list[Kept]:
        """Computes frames in one job, and cuts off what they were computed from."""
        kept = [Kept(source, rows, self._named(source)) for source, rows in self._computed(frames)] if frames else []
        self._kept.update(kept)
        return kept

    def _computed(self, frames: Sequence[DataFrame]) -> Sequence[tuple[Source, int]]:
        level = self._level
        leaves = [self._leaves.leaf_of(frame.localCheckpoint(eager=False, storageLevel=level)) for frame in frames]
        try:
            return list(zip(leaves, self._leaves.counted(leaves), strict=True))
        except BaseException:
            release_all(leaves)
            raise

    def _named(self, source: Source) -> str:
        if not isinstance(source, Leaf):
            return self.view(source.frame)
        name = self._new_name()
        self._leaves.name(source, name)
        return name

    def free(self, kept: Kept) -> None:
        """Gives back the room that rows take."""
        if kept in self._kept:
            self._kept.remove(kept)
            self.forget(kept.view)
            kept.source.release()

    def forget_all(self) -> None:
        """Gives back all rows that are kept."""
        for kept in list(self._kept):
            self.free(kept)

    def remove(self, path: str) -> None:
        """Removes a directory of files that Spark has written."""
        java: Any = self.spark.sparkContext._jvm
        place = java.org.apache.hadoop.fs.Path(path)
        place.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf()).delete(place, True)

    def handed_over(self, parts: Sequence[Kept]) -> DataFrame:
        """The rows of kept parts together, in the user's session. They are the caller's from now on."""
        frame = parts[0].frame
        for part in parts[1:]:
            frame = frame.unionAll(part.frame)
        self._kept.difference_update(parts)
        result = with_known_rows(self._of_user(frame), sum(part.rows for part in parts))
        _handed_over[result] = [part.source.release for part in parts]
        return result

    def handed_over_file(self, frame: DataFrame, path: str, rows: int) -> DataFrame:
        """A frame of the user's session that reads files; they go when it is released, or with the session."""
        _handed_over[frame] = [lambda: self.remove(path)]
        before_end(lambda: self.remove(path))
        return with_known_rows(frame, rows)

    @property
    def may_lose_rows(self) -> bool:
        """Whether executors may go, and take with them what they keep."""
        return self._level.replication > 1

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return frame_of_plan(self.users, frame._jdf.queryExecution().analyzed())

    def close(self) -> None:
        self.forget_all()
        for view in list(self._views):
            self.forget(view)
        self._end()

    def _end(self) -> None:
        application = self.spark.sparkContext.applicationId
        for other in list(_idle):
            if other != application:
                _idle.pop(other, None)
        _idle.setdefault(application, []).append(self._leaves)


def release_all(sources: Sequence[Source]) -> None:
    """Lets go of what tasks have kept before one failed, if there still is a session."""
    with suppress(Exception):
        for source in sources:
            source.release()


def _storage_level(spark: SparkSession) -> StorageLevel:
    """Where rows are kept: on clusters twice, so that they do not go with an executor."""
    from pyspark import StorageLevel

    local = is_local(spark.sparkContext.master or "")
    return StorageLevel.MEMORY_AND_DISK_DESER if local else StorageLevel(True, True, False, True, 2)


def release(frame: DataFrame) -> None:
    """Gives back what executors keep for a frame that `run_stratum` has returned."""
    for give_back in _handed_over.pop(frame, ()):
        give_back()

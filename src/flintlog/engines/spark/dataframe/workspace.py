"""A session of our own beside the user's, in which plans are made and rows persisted, with settings that suit rounds.

Sessions of one application share executors and persisted rows, but not settings. A client of Spark Connect cannot make
such a session: there the user's own serves, with the user's settings (see connect.py).
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
from flintlog.engines.spark.dataframe.logical_leaves import JavaSession, LogicalLeaf, frame_of_plan
from flintlog.engines.spark.sessions.masters import is_local
from flintlog.engines.spark.sessions.session import before_end

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame, SparkSession

# Sessions of our own that no stratum uses at the moment, by application: making one takes longer than a round.
_idle: dict[str, list[JavaSession]] = {}
# For each frame that was handed over, the functions that drop its rows.
_handed_over: WeakKeyDictionary[DataFrame, list[Callable[[], None]]] = WeakKeyDictionary()


class Storage(Protocol):
    """Rows that executors keep until `release`."""

    @property
    def frame(self) -> DataFrame: ...

    def release(self) -> None: ...


@dataclass(eq=False)
class PersistedRows:
    """Rows that executors keep, their number, and the name of their view."""

    storage: Storage
    rows: int
    view: str

    @property
    def frame(self) -> DataFrame:
        return self.storage.frame


class Workspace:
    """The views and persisted rows of one stratum. `close` drops all of them but the rows that were handed over."""

    def __init__(self, spark: SparkSession) -> None:
        self.users_session = spark
        self.spark: SparkSession = self._start(spark)
        self._prefix = f"flintlog_{uuid4().hex[:12]}"
        self._number = 0
        self._views: set[str] = set()
        self._persisted: set[PersistedRows] = set()

    def _start(self, spark: SparkSession) -> SparkSession:
        """The session for plans: one that an earlier stratum has used, or a new one."""
        self._level = _storage_level(spark)
        try:
            self._java = _idle[spark.sparkContext.applicationId].pop()
        except (KeyError, IndexError):
            self._java = JavaSession(spark.newSession())
            for key, value in settings.ALWAYS.items():
                self._java.session.conf.set(key, value)
        settings.follow(self._java.session, spark)
        return self._java.session

    def set_partitions(self, partitions: int, *, adaptive: bool = False) -> None:
        """Sets the number of partitions for the shuffles of all later plans. With `adaptive`, Spark plans the rest of
        a job from the rows that it has seen: jobs take longer, but skewed ones come to an end."""
        self.spark.conf.set(settings.PARTITIONS, str(partitions))
        for key, value in self._java.settings_of_rounds.items():
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
        """Registers a frame as a view; returns the view's name."""
        name = self._new_name()
        frame.createOrReplaceTempView(name)
        return name

    def _new_name(self) -> str:
        self._number += 1
        name = f"{self._prefix}_{self._number}"
        self._views.add(name)
        return name

    def forget(self, view: str) -> None:
        """Drops a view, if it is still there."""
        if view in self._views:
            self._views.remove(view)
            self._drop(view)

    def _drop(self, view: str) -> None:
        self._java.forget(view)

    def table(self, rows: Sequence[tuple[Any, ...]], columns: str) -> DataFrame:
        """A frame of rows that are on the driver."""
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        try:
            return self.spark.createDataFrame(rows, columns)
        finally:
            # Making a frame makes its session the active one, which must stay the user's.
            if active is not None and active is not self.spark:
                SparkSession._activeSession = active
                java: Any = active._jvm
                java.SparkSession.setActiveSession(active._jsparkSession)

    def adopted(self, frame: DataFrame) -> DataFrame:
        """A frame of the user's session as a frame of our session."""
        return frame_of_plan(self.spark, frame._jdf.queryExecution().analyzed())

    # --- Rows -------------------------------------------------------------------------------------

    def persist(self, frames: Sequence[DataFrame]) -> list[PersistedRows]:
        """Computes frames in one job and cuts them off from their plans. The results are in the order of the frames."""
        computed = self._computed(frames) if frames else ()
        persisted = [PersistedRows(storage, rows, self._named(storage)) for storage, rows in computed]
        self._persisted.update(persisted)
        return persisted

    def _computed(self, frames: Sequence[DataFrame]) -> Sequence[tuple[Storage, int]]:
        level = self._level
        leaves = [self._java.leaf_of(frame.localCheckpoint(eager=False, storageLevel=level)) for frame in frames]
        try:
            return list(zip(leaves, self._java.counted(leaves), strict=True))
        except BaseException:
            release_all(leaves)
            raise

    def _named(self, storage: Storage) -> str:
        if not isinstance(storage, LogicalLeaf):
            return self.view(storage.frame)
        name = self._new_name()
        self._java.name(storage, name)
        return name

    def free(self, rows: PersistedRows) -> None:
        """Has executors drop the rows, and drops their view."""
        if rows in self._persisted:
            self._persisted.remove(rows)
            self.forget(rows.view)
            rows.storage.release()

    def free_all(self) -> None:
        for rows in list(self._persisted):
            self.free(rows)

    def remove(self, path: str) -> None:
        """Removes a directory of files that Spark has written."""
        java: Any = self.spark.sparkContext._jvm
        directory = java.org.apache.hadoop.fs.Path(path)
        directory.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf()).delete(directory, True)

    def handed_over(self, parts: Sequence[PersistedRows]) -> DataFrame:
        """The rows of all parts as a frame of the user's session. `close` keeps them: the caller is to `release`
        them."""
        frame = union_of(parts)  # first: `close` frees the parts if this fails
        self._persisted.difference_update(parts)
        result = with_known_rows(self._of_user(frame), sum(part.rows for part in parts))
        _handed_over[result] = [part.storage.release for part in parts]
        return result

    def handed_over_file(self, frame: DataFrame, path: str, rows: int) -> DataFrame:
        """As `handed_over`, for a frame that reads files. They are removed with `release`, or when the session ends."""
        _handed_over[frame] = [lambda: self.remove(path)]
        before_end(lambda: self.remove(path))
        return with_known_rows(frame, rows)

    @property
    def may_lose_rows(self) -> bool:
        """Whether executors may be lost, and persisted rows with them."""
        return self._level.replication > 1

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return frame_of_plan(self.users_session, frame._jdf.queryExecution().analyzed())

    def close(self) -> None:
        self.free_all()
        for view in list(self._views):
            self.forget(view)
        self._end()

    def _end(self) -> None:
        application = self.spark.sparkContext.applicationId
        for other in list(_idle):
            if other != application:
                _idle.pop(other, None)
        _idle.setdefault(application, []).append(self._java)


def union_of(parts: Sequence[PersistedRows]) -> DataFrame:
    frame = parts[0].frame
    for part in parts[1:]:
        frame = frame.unionAll(part.frame)
    return frame


def release_all(storages: Sequence[Storage]) -> None:
    """Drops the rows of a job that has failed, if there still is a session."""
    with suppress(Exception):
        for storage in storages:
            storage.release()


def _storage_level(spark: SparkSession) -> StorageLevel:
    """Two executors of a cluster keep every row, so that it is not lost with one of them."""
    from pyspark import StorageLevel

    local = is_local(spark.sparkContext.master or "")
    return StorageLevel.MEMORY_AND_DISK_DESER if local else StorageLevel(True, True, False, True, 2)


def release(frame: DataFrame) -> None:
    """Has executors drop the rows of a frame that `run_stratum` has returned."""
    for drop in _handed_over.pop(frame, ()):
        drop()

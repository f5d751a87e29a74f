"""The workspace for Spark Connect: plans run in the user's session, with the user's settings, and nothing calls
Java."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintlog.engines.spark.dataframe.workspace import Storage, Workspace, release_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class CachedRows:
    """Rows in Spark's cache."""

    frame: DataFrame

    def release(self) -> None:
        self.frame.unpersist()


class ConnectWorkspace(Workspace):
    """Keeps rows twice: as a local checkpoint, and in Spark's cache. Spark knows the true size of cached rows only; its
    estimate for a checkpoint is made of earlier estimates, and grows from round to round."""

    def _start(self, spark: SparkSession) -> SparkSession:
        return spark

    def _end(self) -> None:
        """Nothing to give back: the session is the user's."""

    def set_partitions(self, partitions: int, *, adaptive: bool = False) -> None:
        """Nothing to set: the settings are the user's."""

    def table(self, rows: Sequence[tuple[Any, ...]], columns: str) -> DataFrame:
        return self.spark.createDataFrame(rows, columns)

    def adopted(self, frame: DataFrame) -> DataFrame:
        return frame

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return frame

    def _computed(self, frames: Sequence[DataFrame]) -> Sequence[tuple[Storage, int]]:
        kept = [CachedRows(frame.localCheckpoint(eager=False).persist()) for frame in frames]
        try:
            return [(source, source.frame.count()) for source in kept]
        except BaseException:
            release_all(kept)
            raise

    def _drop(self, view: str) -> None:
        self.spark.catalog.dropTempView(view)

    @property
    def may_lose_rows(self) -> bool:
        return True

    def remove(self, path: str) -> None:
        """Nothing to do: a client cannot delete files of the server."""

"""A workspace for Spark Connect: the user's session itself, with the settings it has, and nothing of Java's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintlog.engines.spark.dataframe.workspace import Source, Workspace, release_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Persisted:
    """Rows in Spark's cache."""

    frame: DataFrame

    def release(self) -> None:
        self.frame.unpersist()


class ConnectWorkspace(Workspace):
    """Rows are kept twice, as what `localCheckpoint` makes and in Spark's cache: only of what is in the cache Spark
    knows the true size, and guesses at it that are made of guesses grow from round to round."""

    def _start(self, spark: SparkSession) -> SparkSession:
        return spark

    def _end(self) -> None:
        """The session is the user's."""

    def spread(self, partitions: int, *, adaptive: bool = False) -> None:
        """The settings are the user's."""

    def table(self, rows: Sequence[tuple[Any, ...]], columns: str) -> DataFrame:
        return self.spark.createDataFrame(rows, columns)

    def adopted(self, frame: DataFrame) -> DataFrame:
        return frame

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return frame

    def _computed(self, frames: Sequence[DataFrame]) -> Sequence[tuple[Source, int]]:
        kept = [Persisted(frame.localCheckpoint(eager=False).persist()) for frame in frames]
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
        """Files of a server are not within reach."""

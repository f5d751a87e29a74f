"""A workspace for Spark Connect: the user's session itself, with the settings it has, and nothing of Java's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flintlog.engines.spark.dataframe.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ConnectWorkspace(Workspace):
    """Rows are kept twice, as what `localCheckpoint` makes and in Spark's cache: only of what is in the cache Spark
    knows the true size, and guesses at it that are made of guesses grow from round to round."""

    def _start(self, spark: SparkSession) -> SparkSession:
        return spark

    def _end(self) -> None:
        """The session is the user's."""

    def spread(self, partitions: int, *, adaptive: bool = False) -> None:
        """The settings are the user's."""

    def adopted(self, frame: DataFrame) -> DataFrame:
        return frame

    def _of_user(self, frame: DataFrame) -> DataFrame:
        return frame

    def _computed(self, frames: Sequence[DataFrame]) -> list[tuple[DataFrame, int]]:
        kept = [frame.localCheckpoint(eager=False).persist() for frame in frames]
        return [(frame, frame.count()) for frame in kept]

    @staticmethod
    def release(frame: DataFrame) -> None:
        frame.unpersist()

    @property
    def may_lose_rows(self) -> bool:
        return True

    def remove(self, path: str) -> None:
        """Files of a server are not within reach."""

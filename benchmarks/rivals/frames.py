"""What every hand-written loop here does in the same way: reading facts, and the end of a round."""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Answer:
    """What the program prints, by relation: row counts, and the value of `Check` where there is one."""

    printed: dict[str, int]
    rounds: int


def read(spark: SparkSession, file: Path, *columns: str) -> DataFrame:
    """A file of whole numbers, cached: every round joins it again."""
    schema = ", ".join(f"{name} BIGINT" for name in columns)
    return spark.read.csv(str(file), sep="\t", schema=schema, mode="FAILFAST").cache()


def unseen(found: DataFrame, known: DataFrame) -> DataFrame:
    """The rows of `found` that are not in `known`, once each; computed here and now, so that the next round's plan
    begins at them."""
    return found.distinct().join(known, known.columns, "left_anti").localCheckpoint()


def added(known: DataFrame, new: DataFrame) -> DataFrame:
    """`known` with the new rows. A union has the partitions of both: without the coalesce they would become more in
    every round."""
    return known.union(new).coalesce(_partitions(known)).localCheckpoint()


def _partitions(frame: DataFrame) -> int:
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 0)

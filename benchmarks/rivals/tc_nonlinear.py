"""Transitive closure by joining it with itself: a path is new if one of its halves was new in the last round."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    tc = delta = read(spark, facts / "Arc.facts", "x", "y").distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        delta = unseen(composed(delta, tc).union(composed(tc, delta)), tc)
        tc = added(tc, delta)
        rounds += 1
    return Answer({"Tc": tc.count()}, rounds)


def composed(first: DataFrame, second: DataFrame) -> DataFrame:
    """(x, y) where first has (x, z) and second has (z, y)."""
    return first.toDF("x", "z").join(second.toDF("z", "y"), "z").select("x", "y")

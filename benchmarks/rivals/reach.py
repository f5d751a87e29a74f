"""What can be reached from the sources."""

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    arc = read(spark, facts / "Arc.facts", "x", "y")
    reach = delta = read(spark, facts / "Source.facts", "y").distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        delta = unseen(delta.toDF("x").join(arc, "x").select("y"), reach)
        reach = added(reach, delta)
        rounds += 1
    return Answer({"Reach": reach.count()}, rounds)

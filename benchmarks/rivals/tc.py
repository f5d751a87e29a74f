"""Transitive closure, left-linear."""

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    arc = read(spark, facts / "Arc.facts", "x", "y")
    step = arc.withColumnRenamed("x", "z")
    tc = delta = arc.distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        found = delta.withColumnRenamed("y", "z").join(step, "z").select("x", "y")
        delta = unseen(found, tc)
        tc = added(tc, delta)
        rounds += 1
    return Answer({"Tc": tc.count()}, rounds)

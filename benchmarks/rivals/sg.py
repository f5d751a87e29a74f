"""Same generation: children of one parent, and children of parents of the same generation."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    arc = read(spark, facts / "Arc.facts", "parent", "child")
    first, second = arc.toDF("a", "x"), arc.toDF("b", "y")
    siblings = first.join(second, col("a") == col("b")).where(col("x") != col("y")).select("x", "y")
    sg = delta = siblings.distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        found = delta.toDF("a", "b").join(first, "a").select("x", "b").join(second, "b").select("x", "y")
        delta = unseen(found, sg)
        sg = added(sg, delta)
        rounds += 1
    return Answer({"Sg": sg.count()}, rounds)

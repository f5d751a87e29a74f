"""Where null values flow: a left-linear closure that starts from few edges and goes on for many rounds."""

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    edge = read(spark, facts / "Edge.facts", "w", "y")
    null_node = delta = read(spark, facts / "NullEdge.facts", "x", "y").distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        delta = unseen(delta.toDF("x", "w").join(edge, "w").select("x", "y"), null_node)
        null_node = added(null_node, delta)
        rounds += 1
    return Answer({"NullNode": null_node.count()}, rounds)

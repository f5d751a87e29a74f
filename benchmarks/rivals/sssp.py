"""Shortest paths from the given nodes, by Bellman and Ford: only nodes whose distance improved go on."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.functions import sum as total

from benchmarks.rivals.frames import Answer, read
from benchmarks.rivals.lowest import improved, improvements


def answer(spark: SparkSession, facts: Path) -> Answer:
    arc = read(spark, facts / "WArc.facts", "x", "y", "weight")
    start = read(spark, facts / "Id.facts", "y")
    sssp = delta = start.distinct().withColumn("d", lit(0).cast("bigint")).localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        found = delta.toDF("x", "d").join(arc, "x").select("y", (col("d") + col("weight")).alias("d"))
        delta = improvements(found, sssp, "y", "d")
        sssp = improved(sssp, delta, "y", "d")
        rounds += 1
    check = sssp.agg(total(col("d") % 1009)).collect()[0][0]
    return Answer({"Sssp": sssp.count(), "Check": check}, rounds)

"""Connected components: every node takes the smallest label that reaches it."""

from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from pyspark.sql.functions import sum as total

from benchmarks.rivals.frames import Answer, read
from benchmarks.rivals.lowest import improved, improvements


def answer(spark: SparkSession, facts: Path) -> Answer:
    arc = read(spark, facts / "Arc.facts", "m", "n")
    cc = delta = arc.select(col("m").alias("n"), col("m").alias("c")).distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        found = delta.toDF("m", "c").join(arc, "m").select("n", "c")
        delta = improvements(found, cc, "n", "c")
        cc = improved(cc, delta, "n", "c")
        rounds += 1
    check = cc.agg(total(col("c") % 1009)).collect()[0][0]
    return Answer({"CC": cc.count(), "Label": cc.select("c").distinct().count(), "Check": check}, rounds)

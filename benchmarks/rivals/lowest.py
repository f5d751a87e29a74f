"""One value a key, the smallest: what cc and sssp have in common."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.functions import min as smallest


def improvements(found: DataFrame, known: DataFrame, key: str, value: str) -> DataFrame:
    """The smallest value found for each key, where `known` has none or a greater one."""
    best = found.groupBy(key).agg(smallest(value).alias("best"))
    better = col(value).isNull() | (col("best") < col(value))
    return best.join(known, key, "left").where(better).select(key, col("best").alias(value)).localCheckpoint()


def improved(known: DataFrame, better: DataFrame, key: str, value: str) -> DataFrame:
    """`known` with the better values in place of those it had."""
    return known.union(better).groupBy(key).agg(smallest(value).alias(value)).localCheckpoint()

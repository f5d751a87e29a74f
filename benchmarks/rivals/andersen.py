"""Andersen's points-to analysis. Rules with two recursive atoms stand twice: once for each that may be the new one."""

from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen


def answer(spark: SparkSession, facts: Path) -> Answer:
    address_of = read(spark, facts / "addressOf.facts", "y", "x")
    assign = read(spark, facts / "assign.facts", "y", "z")
    load = read(spark, facts / "load.facts", "y", "x")
    store = read(spark, facts / "store.facts", "y", "x")
    points_to = delta = address_of.distinct().localCheckpoint()
    rounds = 0
    while delta.count() > 0:
        found = [
            assign.join(delta.toDF("z", "x"), "z").select("y", "x"),
            _loads(load, delta, points_to),
            _loads(load, points_to, delta),
            _stores(store, delta, points_to),
            _stores(store, points_to, delta),
        ]
        delta = unseen(reduce(DataFrame.union, found), points_to)
        points_to = added(points_to, delta)
        rounds += 1
    return Answer({"PointsTo": points_to.count()}, rounds)


def _loads(load: DataFrame, pointer: DataFrame, target: DataFrame) -> DataFrame:
    """y = *x, where x points to z, and z to w."""
    through = load.join(pointer.toDF("x", "z"), "x").select("y", "z")
    return through.join(target.toDF("z", "w"), "z").select("y", "w").toDF("y", "x")


def _stores(store: DataFrame, pointer: DataFrame, target: DataFrame) -> DataFrame:
    """*y = x, where y points to z, and x to w."""
    through = store.join(pointer.toDF("y", "z"), "y").select("x", "z")
    return through.join(target.toDF("x", "w"), "x").select("z", "w").toDF("y", "x")

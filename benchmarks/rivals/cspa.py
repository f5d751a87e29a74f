"""Context-sensitive points-to analysis: three relations through one another, so three deltas go round together."""

from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.rivals.frames import Answer, added, read, unseen
from benchmarks.rivals.tc_nonlinear import composed


def answer(spark: SparkSession, facts: Path) -> Answer:
    assign = read(spark, facts / "Assign.facts", "x", "y")
    dereference = read(spark, facts / "Dereference.facts", "x", "y")
    dereferenced = _turned(dereference)
    same = assign.select("x", "x").union(assign.select("y", "y")).toDF("x", "y").distinct()
    flow = d_flow = assign.union(same).distinct().localCheckpoint()
    memory = d_memory = same.localCheckpoint()
    value = d_value = flow.limit(0).localCheckpoint()
    rounds = 0
    while d_flow.count() + d_memory.count() + d_value.count() > 0:
        # Rules with several recursive atoms stand once for each that may be the new one.
        to_flow = [composed(assign, d_memory), composed(d_flow, flow), composed(flow, d_flow)]
        to_memory = [composed(composed(dereferenced, d_value), dereference)]
        backwards, d_backwards = _turned(flow), _turned(d_flow)
        to_value = [
            composed(d_backwards, flow),
            composed(backwards, d_flow),
            composed(composed(d_backwards, memory), flow),
            composed(composed(backwards, d_memory), flow),
            composed(backwards, composed(memory, d_flow)),
        ]
        d_flow = unseen(reduce(DataFrame.union, to_flow), flow)
        d_memory = unseen(reduce(DataFrame.union, to_memory), memory)
        d_value = unseen(reduce(DataFrame.union, to_value), value)
        flow, memory, value = added(flow, d_flow), added(memory, d_memory), added(value, d_value)
        rounds += 1
    return Answer({"ValueFlow": flow.count(), "MemoryAlias": memory.count(), "ValueAlias": value.count()}, rounds)


def _turned(pairs: DataFrame) -> DataFrame:
    return pairs.select(pairs["y"].alias("x"), pairs["x"].alias("y"))

"""Rows of a result come back in the tasks' messages while they are few, and stay with Spark otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.lanes import sampled

import flintlog as fl
from flintlog.engines.spark.embedded import jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Most arcs lead away from 1, so that the tasks have parts of `path` of very different sizes.
PROGRAM = """
    .decl edge(x: number, y: number)
    .decl path(x: number, y: number)
    .decl reached(x: number)
    .decl found()
    .output path
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
    reached(y) :- path(1, y).
    found() :- reached(40).
"""
EDGES = [(1, y) for y in range(2, 40)] + [(39, 40), (2, 41), (50, 51)]
PATHS = {*EDGES, (1, 40), (1, 41)}


WAYS = [
    pytest.param(strategy, most, marks=sampled(i == j), id=f"{what}-{strategy}")
    for i, (what, most) in enumerate({"none": 0, "small parts": 400, "all": jobs.MOST_TOLD}.items())
    for j, strategy in enumerate(["single", "decomposed", "resident"])
]


@pytest.mark.parametrize(("strategy", "most"), WAYS)
def test_rows_are_the_same_however_they_come(
    strategy: str, most: int, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_TOLD", most)
    result = fl.Program(PROGRAM).run(edge=EDGES, spark=spark, strategy=strategy, partitions=2)
    assert set(result["path"]) == PATHS
    assert len(result["path"]) == len(PATHS)
    assert {tuple(row) for row in result["path"].spark().collect()} == PATHS
    assert set(result["reached"]) == {(y,) for x, y in PATHS if x == 1}
    assert list(result["found"]) == [()]

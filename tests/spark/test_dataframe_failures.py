"""Rounds of the strategy `dataframe` that fail: for want of room, or because executors took rows with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.lanes import sampled
from tests.spark.dataframe_runs import Seen, agree, run_dataframe, run_naive
from tests.spark.test_dataframe_rounds import CLOSURE, chain

from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.dataframe import relations
from flintlog.engines.spark.dataframe.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Whose rows go by rounds, of which the best stays, and which read each other.
WITHOUT_ROOM = """
    .decl e(x: number, y: number) .input e
    .decl far(x: number, n: number) .output far
    .decl odd(x: number, y: number) .output odd
    .decl even(x: number, y: number) .output even
    far(0, 0).
    far(y, MIN(n + 1)) :- far(x, n), e(x, y).
    odd(x, y) :- e(x, y).
    even(x, z) :- odd(x, y), odd(y, z).
    odd(x, z) :- even(x, y), e(y, z).
"""


TIMES = [(first, times) for first in range(1, 14) for times in (1, 2, 3)]


@pytest.mark.parametrize(("first", "times"), [pytest.param(*way, marks=sampled(way == (5, 1))) for way in TIMES])
def test_whatever_has_no_room_comes_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, first: int, times: int
) -> None:
    """The jobs of inputs, rounds, merged parts and new partitions fail with Spark's words, some once, some three times;
    faults have a real one."""
    monkeypatch.setattr(relations, "MOST_PARTS_SPREAD", 2)
    monkeypatch.setattr(relations, "WORTH_BOTHERING", 10)
    computed, jobs = Workspace._computed, [0]

    def failing(self: Workspace, frames: Any) -> Any:
        jobs[0] += 1
        if first <= jobs[0] < first + times:
            raise RuntimeError("[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0.")
        return computed(self, frames)

    monkeypatch.setattr(Workspace, "_computed", failing)
    facts = {"e": [*chain(5)["e"], (5, 0), (2, 5), *((i, 0) for i in range(6, 12))]}
    agree(spark, WITHOUT_ROOM, facts, partitions=2)
    assert jobs[0] >= first + times


def test_lost_rows_are_computed_again_from_the_last_checkpoint(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen()
    losing = _lose_rows_in(monkeypatch, "round 7", seen)
    expected = run_naive(CLOSURE, chain(10))
    found = run_dataframe(spark, CLOSURE, chain(10), seen=seen, checkpoint_dir=str(tmp_path), checkpoint_every=3)
    assert found == expected
    assert losing == ["lost"]
    assert seen.jobs.count("round 6") == 1
    assert seen.jobs.count("round 7") == 2
    assert list(tmp_path.iterdir()) == []


def test_without_checkpoints_it_begins_again(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen()
    losing = _lose_rows_in(monkeypatch, "round 4", seen)
    assert run_dataframe(spark, CLOSURE, chain(6), seen=seen) == run_naive(CLOSURE, chain(6))
    assert losing == ["lost"]
    assert seen.jobs.count("round 1") == 2


def test_a_deleted_checkpoint_is_an_error(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen()

    def delete() -> None:
        for file in tmp_path.rglob("*.parquet"):
            file.unlink()

    _lose_rows_in(monkeypatch, "round 5", seen, delete)
    with pytest.raises(FlintlogError) as raised:
        run_dataframe(spark, CLOSURE, chain(8), seen=seen, checkpoint_dir=str(tmp_path), checkpoint_every=2)
    assert raised.value.diagnostics[0].code == "E933"


def _lose_rows_in(monkeypatch: pytest.MonkeyPatch, job: str, seen: Seen, also: Any = None) -> list[str]:
    """Takes away what executors keep for the stratum, once, when a job begins. Only its own: facts stay."""
    happened: list[str] = []
    keep = Workspace.persist

    def losing(self: Workspace, frames: Any) -> Any:
        if seen.jobs and seen.jobs[-1] == job and not happened:
            happened.append("lost")
            for kept in self._persisted:
                kept.storage.release()
            if also is not None:
                also()
        return keep(self, frames)

    monkeypatch.setattr(Workspace, "persist", losing)
    return happened

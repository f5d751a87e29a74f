"""Processes that die in the middle of a run, on a cluster of real ones: the answer is right, or there is an error.

Runs are those of the command line: exit code 0 with the whole answer, or 1 with a message; anything else fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.clusters import Cluster, standalone
from tests.spark.watched import Watched, watched

pytestmark = pytest.mark.slow

# Rounds enough to be hit in the middle: thousands a second in a task, hundreds between tasks, a few as jobs.
ROUNDS = {"single": 600_000, "decomposed": 600_000, "resident": 40_000, "dataframe": 50}
# What a Python worker has worked, in hundredths of a second, when it is well within the rounds.
WELL_WITHIN = 350


def counting(rounds: int) -> str:
    """Two chains of `rounds` steps, each of which a task can follow by itself."""
    return f"""
        .decl step(chain: number, n: number)
        .output step
        step(chain, 0) :- chain = range(0, 2).
        step(chain, n + 1) :- step(chain, n), n < {rounds}.
    """


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def options(strategy: str, *more: object) -> list[str]:
    return ["--strategy", strategy, "--partitions", "2", *map(str, more)]


def get_going(run: Watched, strategy: str) -> None:
    """Waits until a run is in the middle of its rounds."""
    run.until(lambda: f"step: {strategy}, as told" in run.said, "the strategy was told")
    if strategy in ("single", "decomposed"):
        run.until(lambda: any(p.ticks > WELL_WITHIN for p in run.python_workers()), "a task was at work")
    elif strategy == "resident":
        run.until(lambda: run.round > 0, "rounds were reported")
    else:
        run.until(lambda: run.round > 4, "some rounds were over")


def kill(run: Watched, what: str) -> None:
    """Kills an executor, or the Python process of a task, that has something to do."""
    workers = run.python_workers()
    if what == "worker":
        workers[0].kill()
    else:
        every = {process.pid: process for process in run.executors()}
        busy = _ancestors(workers[0].pid, run) & every.keys() if workers else set()
        every[min(busy or every)].kill()


def _ancestors(pid: int, run: Watched) -> set[int]:
    from tests.spark.processes import all_processes

    parents = {process.pid: process.parent for process in all_processes()}
    found = set()
    while pid in parents:
        pid = parents[pid]
        found.add(pid)
    return found


def assert_right(run: Watched, rounds: int) -> None:
    assert run.end() == 0, f"{run.said}\n{run.spark_said[-4000:]}"
    assert run.rows("step") == {(chain, n) for chain in range(2) for n in range(rounds + 1)}


LOST = {"executor": "Lost executor", "worker": "Python worker exited unexpectedly"}


@pytest.mark.parametrize("victim", ["executor", "worker"])
@pytest.mark.parametrize("strategy", ["single", "decomposed", "resident"])
def test_a_killed_process_is_made_up_for(cluster: Cluster, strategy: str, victim: str, tmp_path: Path) -> None:
    rounds = ROUNDS[strategy]
    with watched(cluster, counting(rounds), tmp_path / "run", options(strategy)) as run:
        get_going(run, strategy)
        kill(run, victim)
        assert_right(run, rounds)
        assert LOST[victim] in run.spark_said


@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_resident_tasks_resume_at_a_snapshot(cluster: Cluster, victim: str, tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    rounds = ROUNDS["resident"]
    with watched(
        cluster, counting(rounds), tmp_path / "run", options("resident", "--checkpoint-dir", snapshots)
    ) as run:
        get_going(run, "resident")
        run.until(lambda: len(list(snapshots.rglob("snapshot-*-part-*"))) > 2, "there was a whole snapshot")
        kill(run, victim)
        assert_right(run, rounds)
        assert LOST[victim] in run.spark_said
        assert "tasks were lost; attempt 2 goes on with round" in run.said
        assert resumed_at(run) > 100
    assert not list(snapshots.rglob("snapshot-*")), "they are gone with the run"


def resumed_at(run: Watched) -> int:
    return int(run.said.partition("goes on with round ")[2].split()[0])

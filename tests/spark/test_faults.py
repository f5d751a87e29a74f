"""Processes that die in the middle of a run, on a cluster of real ones: the answer is right, or there is an error.

Runs are those of the command line: exit code 0 with the whole answer, or 1 with a message; anything else fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.clusters import Cluster, standalone
from tests.spark.watched import Watched, watched

import flintlog as fl

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
    told = options("resident", "--checkpoint-dir", snapshots)
    with watched(cluster, counting(rounds), tmp_path / "run", told) as run:
        get_going(run, "resident")
        run.until(lambda: len(parts_of_snapshots(snapshots)) > 2, "there was a whole snapshot")
        kill(run, victim)
        assert_right(run, rounds)
        assert LOST[victim] in run.spark_said
        assert "tasks were lost; attempt 2 goes on with round" in run.said
        assert int(run.said.partition("goes on with round ")[2].split()[0]) > 100
    assert not parts_of_snapshots(snapshots), "they are gone with the run"


def test_resident_tasks_fail_without_their_snapshots(cluster: Cluster, tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    told = options("resident", "--checkpoint-dir", snapshots)
    with watched(cluster, counting(ROUNDS["resident"]), tmp_path / "run", told) as run:
        get_going(run, "resident")
        run.until(lambda: len(parts_of_snapshots(snapshots)) > 2, "there was a whole snapshot")
        kill(run, "executor")
        delete(snapshots)
        assert run.end() == 1
        assert "error[E933]: step (resident)" in run.said


@pytest.mark.parametrize("checkpoints", [True, False])
@pytest.mark.parametrize("victims", ["one executor", "all executors"])
def test_dataframe_rounds_go_on(cluster: Cluster, victims: str, checkpoints: bool, tmp_path: Path) -> None:
    """Rows are kept twice, and by checkpoints in files: without them, the stratum begins again when all are lost."""
    rounds = ROUNDS["dataframe"]
    told = options("dataframe", *(["--checkpoint-dir", tmp_path / "kept", "--checkpoint-every", 5] * checkpoints))
    with watched(cluster, counting(rounds), tmp_path / "run", told) as run:
        get_going(run, "dataframe")
        for process in run.executors()[: 1 if victims == "one executor" else None]:
            process.kill()
        assert_right(run, rounds)
        assert LOST["executor"] in run.spark_said
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


def test_dataframe_rounds_without_their_checkpoints_fail(cluster: Cluster, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = options("dataframe", "--checkpoint-dir", kept, "--checkpoint-every", 5)
    with watched(cluster, counting(ROUNDS["dataframe"]), tmp_path / "run", told) as run:
        get_going(run, "dataframe")
        run.until(lambda: run.round > 6, "there was a checkpoint")
        delete(kept)
        for process in run.executors():
            process.kill()
        assert run.end() == 1
        assert "error[E933]: step (dataframe)" in run.said


# Rows by the million, in few rounds; of three columns, so that no task finds a dense way to keep them.
GROWING = """
    .decl grown(k: number, n: number, m: number)
    .output grown
    grown(k, 1, 1) :- k = range(0, 2).
    grown(k, 2 * n, n + m) :- grown(k, n, m), n < 8000000.
    grown(k, 2 * n + 1, n + m) :- grown(k, n, m), n < 8000000.
"""


@pytest.mark.parametrize("strategy", ["single", "decomposed", "resident"])
def test_a_task_at_its_memory_limit_says_what_to_change(cluster: Cluster, strategy: str, tmp_path: Path) -> None:
    with watched(cluster, GROWING, tmp_path / "run", options(strategy, "--memory-limit", "400M")) as run:
        assert_names_memory(run, strategy, "--strategy dataframe")


@pytest.mark.parametrize("strategy", ["single", "decomposed", "resident"])
def test_a_python_worker_without_memory_says_what_to_change(cluster: Cluster, strategy: str, tmp_path: Path) -> None:
    """The system refuses it memory."""
    settings = {"spark.executor.pyspark.memory": "1200m"}
    with watched(cluster, GROWING, tmp_path / "run", options(strategy), settings) as run:
        assert_names_memory(run, strategy, "--strategy dataframe")


def test_an_executor_without_memory_says_what_to_change(cluster: Cluster, tmp_path: Path) -> None:
    """Spark spills what does not fit, unless there is no room for a single page of memory."""
    settings = {"spark.memory.fraction": "0.02", "spark.buffer.pageSize": "32m"}
    with watched(cluster, GROWING, tmp_path / "run", options("dataframe"), settings) as run:
        assert_names_memory(run, "dataframe", "spark.executor.memory")


# Two million rows, which come in a few rounds.
CLOSURE = """
    .decl arc(x: number, y: number)
    arc(x, (x * 1103 + k * 7919 + x * x % 97) % 1500) :- x = range(0, 1500), k = range(0, 3).
    .decl path(x: number, y: number)
    path(x, y) :- arc(x, y).
    path(x, z) :- path(x, y), arc(y, z).
    .decl summed(rows: number, total: number)
    .output summed
    summed(n, s) :- n = count : { path(_, _) }, s = sum (x * y % 1009) : { path(x, y) }.
"""


def test_tasks_without_room_get_fewer_rows(cluster: Cluster, tmp_path: Path) -> None:
    """Neither hash tables nor the rows of a part fit into what executors have."""
    settings = {"spark.memory.fraction": "0.1"}
    with watched(cluster, CLOSURE, tmp_path / "run", options("dataframe"), settings) as run:
        assert run.end() == 0, f"{run.said}\n{run.spark_said[-4000:]}"
        assert run.rows("summed") == set(fl.Program(CLOSURE).run()["summed"])
        assert "SparkOutOfMemoryError" in run.spark_said, "there was room"


def assert_names_memory(run: Watched, strategy: str, remedy: str) -> None:
    assert run.end() == 1, run.said
    assert f"error[E803]: grown ({strategy})" in run.said
    assert remedy in run.said.partition("note:")[2]
    assert "-->" not in run.said, "there is no place in the program to point at"


def parts_of_snapshots(directory: Path) -> list[Path]:
    return list(directory.rglob("snapshot-*-part-?????-of-?????"))


def delete(directory: Path) -> None:
    """Deletes a directory into which others may be writing."""
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)

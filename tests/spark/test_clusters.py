"""The tests of this room that say how a run ends, with their session on clusters of real processes: two executors with
a slot each, in `local-cluster[2,1,1024]` and under a standalone master with two workers; and on seven slots of one
process, where resident tasks are seven too.

In the fast lane, one program of each strategy runs on the local cluster. In the slow lane:

- all cases of tests/programs with every strategy and 1, 2 and 7 parts of a stratum on both clusters, as they are in
  test_programs.py on two slots, and 7 resident tasks on seven slots;
- all programs of benchmarks/programs with every strategy on both clusters, as they are in test_benchmarks.py on two
  slots: with 2 parts on their smallest data sets, with 1, 2 and 7 on the beginnings of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.benchmark_data import data_sets
from tests.spark.clusters import CLUSTERS, Cluster, run_tests
from tests.spark.test_programs import PARTITIONS

from flintlog.engines.spark_options import STRATEGIES

HERE = Path(__file__).parent
PROGRAMS, BENCHMARKS = str(HERE / "test_programs.py"), str(HERE / "test_benchmarks.py")
HOUR = 3600.0
ANY_LANE = ("-m", "", "-o", f"timeout={HOUR}")


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with CLUSTERS[request.param](tmp_path_factory.mktemp(request.param)) as cluster:
        yield cluster


def test_a_program_of_each_strategy_on_a_local_cluster(tmp_path: Path) -> None:
    chosen = [f"{PROGRAMS}::test_strategy[{strategy}-2-recursion/linear_left]" for strategy in STRATEGIES]
    with CLUSTERS["local-cluster"](tmp_path) as cluster:
        said = run_tests(cluster, [*ANY_LANE, *chosen], tmp_path, 550)
    assert f"{len(chosen)} passed" in said


@pytest.mark.slow
@pytest.mark.timeout(2 * HOUR + 600)
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_programs(cluster: Cluster, strategy: str, partitions: int, tmp_path: Path) -> None:
    run_tests(cluster, all_cases(strategy, partitions), tmp_path, 2 * HOUR)


@pytest.mark.slow
@pytest.mark.timeout(2 * HOUR + 600)
def test_programs_in_seven_resident_tasks(tmp_path: Path) -> None:
    run_tests(Cluster("local[7]", {}), all_cases("resident", 7), tmp_path, 2 * HOUR)


@pytest.mark.slow
@pytest.mark.timeout(2 * HOUR + 600)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("which", ["test_parts", "test_answers"])
def test_benchmarks(cluster: Cluster, which: str, strategy: str, tmp_path: Path) -> None:
    data_sets()  # skips, where there are none
    run_tests(cluster, [*ANY_LANE, "-k", f"{which} and {strategy}", BENCHMARKS], tmp_path, 2 * HOUR)


def all_cases(strategy: str, partitions: int) -> list[str]:
    """The arguments with which pytest runs all cases, and then looks whether the strategy was really used."""
    return [*ANY_LANE, "-k", f"test_strategy and {strategy}-{partitions} or test_enough", PROGRAMS]

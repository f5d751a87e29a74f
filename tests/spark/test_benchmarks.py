"""Every program of benchmarks/programs on its smallest data set, with each strategy: sizes, checksums and files are as
its definition says."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.answer import wrong_parts
from benchmarks.definition import PROGRAMS, Benchmark, load
from benchmarks.facts import stage
from tests.benchmark_data import data_sets

from flintlog.api.program import Program
from flintlog.api.run import Run, evaluate, write_results
from flintlog.engines.spark_options import STRATEGIES, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

BENCHMARKS = {path.parent.name: load(path.parent) for path in sorted(PROGRAMS.glob("*/bench.toml"))}
# Those whose smallest data set is small run with other numbers of parts too.
CHEAP = [name for name, benchmark in BENCHMARKS.items() if benchmark.data[0].name in ("RAND-1k", "RMAT-1k")]


def run_benchmark(
    spark: SparkSession, benchmark: Benchmark, folder: Path, strategy: str, partitions: int
) -> tuple[list[str], list[str]]:
    """What is wrong with the answer, and what was said about strategies."""
    facts = stage(data_sets().folder(benchmark.data[0].name), benchmark.facts, folder / "staged")
    out = folder / "out"
    out.mkdir()
    program = Program.load(benchmark.program)
    lowered = program.optimised()
    outputs = frozenset(d.relation for d in lowered.io if d.kind == "output")
    notes: list[str] = []
    run = Run(
        facts_dir=facts,
        engine="spark",
        functors=program.functors(),
        wanted=outputs,
        sized=frozenset(d.relation for d in lowered.io if d.kind == "printsize") - outputs,
        spark=SparkOptions(session=spark, strategy=strategy, partitions=partitions),
        progress=lambda progress: notes.append(progress.note) if progress.note else None,
    )
    stdout = io.StringIO()
    write_results(lowered, evaluate(lowered, run), out, stdout=stdout)
    return wrong_parts(benchmark.data[0], stdout.getvalue(), out), notes


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_answers(name: str, strategy: str, spark: SparkSession, tmp_path: Path) -> None:
    wrong, notes = run_benchmark(spark, BENCHMARKS[name], tmp_path, strategy, 2)
    assert wrong == []
    print(name, strategy, notes)


@pytest.mark.parametrize("partitions", [1, 7])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", CHEAP)
def test_parts(name: str, strategy: str, partitions: int, spark: SparkSession, tmp_path: Path) -> None:
    wrong, _ = run_benchmark(spark, BENCHMARKS[name], tmp_path, strategy, partitions)
    assert wrong == []

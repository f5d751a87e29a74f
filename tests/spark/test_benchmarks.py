"""Every program of benchmarks/programs with each strategy: on its smallest data set sizes, checksums and files are as
its definition says; on the beginning of that, with 1, 2 and 7 parts of a stratum, all is as the embedded engine has it.
"""

from __future__ import annotations

import io
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.answer import wrong_parts
from benchmarks.definition import PROGRAMS, Benchmark, load
from benchmarks.facts import stage
from tests.benchmark_data import data_sets
from tests.spark.test_programs import PARTITIONS

from flintlog.api.run import evaluate, write_results
from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.protocol import Engine, RunOptions
from flintlog.engines.spark.engine import SparkEngine
from flintlog.engines.spark_options import STRATEGIES, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

BENCHMARKS = {path.parent.name: load(path.parent) for path in sorted(PROGRAMS.glob("*/bench.toml"))}
# So many lines of each file are a small data set, on which most rules still find something.
FIRST_LINES = 200


def run_program(
    benchmark: Benchmark, facts: Path, out: Path, spark: SparkOptions | None = None
) -> tuple[str, list[str]]:
    """Runs a program, on Spark or embedded, and writes its outputs; returns what it printed, and what was said about
    strategies."""
    out.mkdir()
    program = Program.load(benchmark.program)
    lowered = program.optimised()
    outputs = frozenset(d.relation for d in lowered.io if d.kind == "output")
    notes: list[str] = []
    options = RunOptions(
        facts_dir=facts,
        wanted=outputs,
        sized=frozenset(d.relation for d in lowered.io if d.kind == "printsize") - outputs,
        spark=spark or SparkOptions(),
        progress=lambda progress: notes.append(progress.note) if progress.note else None,
    )
    stdout = io.StringIO()
    engine: Engine = SparkEngine() if spark else LocalEngine()
    write_results(lowered, evaluate(lowered, engine, options, functors=program.functors()), out, stdout=stdout)
    return stdout.getvalue(), notes


def staged_facts(benchmark: Benchmark, folder: Path) -> Path:
    return stage(data_sets().folder(benchmark.data[0].name), benchmark.facts, folder / "staged")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_answers(name: str, strategy: str, spark: SparkSession, tmp_path: Path) -> None:
    benchmark, out = BENCHMARKS[name], tmp_path / "out"
    options = SparkOptions(session=spark, strategy=strategy, partitions=2)
    printed, notes = run_program(benchmark, staged_facts(benchmark, tmp_path), out, options)
    assert wrong_parts(benchmark.data[0], printed, out) == []
    print(name, strategy, notes)


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_parts(name: str, strategy: str, partitions: int, spark: SparkSession, tmp_path: Path) -> None:
    benchmark, facts = BENCHMARKS[name], tmp_path / "beginning"
    facts.mkdir()
    for path in staged_facts(benchmark, tmp_path).iterdir():
        with path.open(encoding="utf-8") as lines:
            (facts / path.name).write_text("".join(islice(lines, FIRST_LINES)), encoding="utf-8")
    options = SparkOptions(session=spark, strategy=strategy, partitions=partitions)
    printed, _ = run_program(benchmark, facts, tmp_path / "out", options)
    expected, _ = run_program(benchmark, facts, tmp_path / "expected")
    assert sorted(printed.splitlines()) == sorted(expected.splitlines())
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "expected")
    assert any(character in "123456789" for character in printed) or any(rows_of(tmp_path / "out").values())


def rows_of(folder: Path) -> dict[str, list[str]]:
    """The lines of all files, sorted."""
    return {path.name: sorted(path.read_text(encoding="utf-8").splitlines()) for path in folder.iterdir()}

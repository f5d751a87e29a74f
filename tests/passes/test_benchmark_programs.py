"""No pass changes an answer on real data either: every program of benchmarks/programs, on its smallest data set, with
each pass off, without samples, and with everything off."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.answer import wrong_parts
from benchmarks.contestants import find_flintlog
from benchmarks.definition import PROGRAMS, Benchmark, load
from benchmarks.facts import stage
from benchmarks.process import Finished, measure
from tests.benchmark_data import data_sets

from flintlog.api.user_program import Program
from flintlog.ir.text import print_program
from flintlog.passes.sequence import ALL, IN_ENGINES, engine_may, pass_names

BENCHMARKS = {path.parent.name: load(path.parent) for path in sorted(PROGRAMS.glob("*/bench.toml"))}
SWITCHES = (*pass_names(), *IN_ENGINES, ALL)
LIMIT = 900.0  # seconds

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def seen() -> dict[tuple[str, str, bool], Finished]:
    """The runs so far. A pass that leaves a program as it was leads to a run that has been made already."""
    return {}


def run(benchmark: Benchmark, facts: Path, *options: str, out: Path | None = None) -> Finished:
    command = [str(find_flintlog(None)), "run", str(benchmark.program), "-F", str(facts), "--quiet", *options]
    finished = measure([*command, "-D", str(out or facts)], facts, LIMIT)
    assert not finished.timed_out, f"no answer after {LIMIT:.0f} s"
    assert finished.code == 0, finished.stderr
    return finished


@pytest.mark.parametrize("without", SWITCHES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_answers(name: str, without: str, seen: dict[tuple[str, str, bool], Finished], tmp_path: Path) -> None:
    benchmark = BENCHMARKS[name]
    optimised = print_program(Program.load(benchmark.program).optimised([without]))
    key = name, optimised, engine_may("samples", [without])
    if key not in seen:
        facts = stage(data_sets().folder(benchmark.data[0].name), benchmark.facts, tmp_path / "staged")
        seen[key] = run(benchmark, facts, "--engine", "local", "--without", without, out=tmp_path)
    assert wrong_parts(benchmark.data[0], seen[key].stdout, None) == []

"""No pass changes an answer on real data either: every program of benchmarks/programs, on its smallest data set, with
each pass off, without samples, and with everything off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.answer import read_answer, wrong_parts
from benchmarks.contestants import find_flintlog
from benchmarks.definition import PROGRAMS, Benchmark, load
from benchmarks.facts import VARIABLE, Facts, NoData, stage
from benchmarks.process import Finished, measure

from flintlog.api.program import Program
from flintlog.ir.text import print_program
from flintlog.passes.manager import ALL, IN_ENGINES, engine_may, pass_names

BENCHMARKS = {path.parent.name: load(path.parent) for path in sorted(PROGRAMS.glob("*/bench.toml"))}
SWITCHES = (*pass_names(), *IN_ENGINES, ALL)
LIMIT = 900.0  # seconds; a program that takes longer belongs below

# Without samples, a join of this program begins at the new rows and goes on as written, over cross products too. A cut
# of its facts, small enough for the reference engine, stands in for all of them.
TOO_LONG = {("points_to", "samples"), ("points_to", ALL)}
CLASSES = 60

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data_sets() -> Facts:
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} does not say where the data sets are")
    return Facts(Path(os.environ[VARIABLE]), PROGRAMS.parents[1] / "build" / "bench-data")


@pytest.fixture(scope="module")
def seen() -> dict[tuple[str, str, bool], Finished]:
    """The runs so far. A pass that leaves a program as it was leads to a run that has been made already."""
    return {}


@pytest.fixture(scope="module")
def cut(data_sets: Facts, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A part of the points-to facts, and what the reference engine answers."""
    folder = tmp_path_factory.mktemp("cut")
    whole = folder_of(BENCHMARKS["points_to"], data_sets, folder)
    script = BENCHMARKS["points_to"].folder / "cut_facts.py"
    subprocess.run([sys.executable, script, whole, folder, "--classes", str(CLASSES)], check=True, capture_output=True)
    return folder, read_answer(run(BENCHMARKS["points_to"], folder, "--engine", "naive").stdout)


def folder_of(benchmark: Benchmark, data_sets: Facts, scratch: Path) -> Path:
    try:
        return stage(data_sets.folder(benchmark.data[0].name), benchmark.facts, scratch / "staged")
    except NoData as missing:
        pytest.skip(str(missing))


def run(benchmark: Benchmark, facts: Path, *options: str, out: Path | None = None) -> Finished:
    command = [str(find_flintlog(None)), "run", str(benchmark.program), "-F", str(facts), "--quiet", *options]
    finished = measure([*command, "-D", str(out or facts)], facts, LIMIT)
    assert not finished.timed_out, f"no answer after {LIMIT:.0f} s"
    assert finished.code == 0, finished.stderr
    return finished


@pytest.mark.parametrize("without", SWITCHES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_answers(
    name: str, without: str, data_sets: Facts, seen: dict[tuple[str, str, bool], Finished], tmp_path: Path, request
) -> None:
    benchmark = BENCHMARKS[name]
    if (name, without) in TOO_LONG:
        facts, expected = request.getfixturevalue("cut")
        found = run(benchmark, facts, "--engine", "local", "--without", without, out=tmp_path)
        assert read_answer(found.stdout) == expected
        assert expected.keys() == benchmark.data[0].expected.keys()
        return
    optimised = print_program(Program.load(benchmark.program).optimised([without]))
    key = name, optimised, engine_may("samples", [without])
    if key not in seen:
        facts = folder_of(benchmark, data_sets, tmp_path)
        seen[key] = run(benchmark, facts, "--engine", "local", "--without", without, out=tmp_path)
    assert wrong_parts(benchmark.data[0], seen[key].stdout, None) == []

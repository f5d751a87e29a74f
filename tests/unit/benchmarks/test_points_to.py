"""benchmarks/programs/points_to derives what a solver that shares nothing with Flintlog derives."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.unit.benchmarks.points_to_facts import RandomProgram
from tests.unit.benchmarks.points_to_solver import Solver
from tests.unit.benchmarks.points_to_summaries import relations

from flintlog import Program

FOLDER = Path(__file__).parents[3] / "benchmarks" / "programs" / "points_to"
TEXT = (FOLDER / "program.dl").read_text()
CASES = [(4, 8), (4, 10), (5, 10)]  # seed and statements a method: sparse and dense call graphs


def printed_relations() -> set[str]:
    lists = re.findall(r"^\.printsize ((?:\w+,\s+)*\w+)", TEXT, flags=re.MULTILINE)
    return {name for names in lists for name in re.split(r",\s+", names)}


@pytest.mark.parametrize(("seed", "statements"), CASES)
def test_every_relation_equals_the_solver(seed: int, statements: int, tmp_path: Path) -> None:
    facts = RandomProgram(seed, statements).facts
    for name, rows in facts.items():
        (tmp_path / f"{name}.facts").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    result = Program(TEXT).run(facts_dir=tmp_path)
    expected = relations(Solver(facts))
    assert {name for name, rows in expected.items() if set(result[name]) != rows} == set()


def test_random_programs_reach_every_relation() -> None:
    """An expectation that is empty in all cases would test nothing."""
    solved = [relations(Solver(RandomProgram(*case).facts)) for case in CASES]
    assert {name for name in solved[0] if not any(found[name] for found in solved)} == set()


def test_sizes_are_expected_of_every_printed_relation() -> None:
    table = tomllib.loads((FOLDER / "bench.toml").read_text())
    assert [set(data["sizes"]) for data in table["data"]] == [printed_relations()]
    assert printed_relations() == set(relations(Solver(RandomProgram(*CASES[0]).facts)))

"""The loops that Flintlog is measured against compute the same as Flintlog does."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from benchmarks.definition import PROGRAMS

from flintlog.api.user_program import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One of each kind in the fast lane.
FAST = ("tc", "sssp", "andersen")
SLOW = ("tc_nonlinear", "sg", "reach", "cc", "csda", "cspa")


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small graph with cycles under all the names that the programs read."""
    folder = tmp_path_factory.mktemp("facts")
    dice = Random(7)
    arcs = sorted({(dice.randrange(12), dice.randrange(12)) for _ in range(20)})
    pairs = "Arc Edge Assign assign Dereference".split()
    tables: dict[str, list[tuple[int, ...]]] = {"WArc": [(x, y, 1 + (x * y) % 5) for x, y in arcs]}
    tables |= {name: list(arcs) for name in pairs}
    tables |= {name: list(arcs[::4]) for name in "NullEdge addressOf load store".split()}
    tables |= {name: [arcs[0][:1]] for name in ("Source", "Id")}
    for name, rows in tables.items():
        lines = ("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / f"{name}.facts").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def calm(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, as it was before once the test is over."""
    yield spark
    spark.catalog.clearCache()
    for name in ("LevelLimit", "RowLimit"):
        spark.conf.unset(f"spark.sql.cteRecursion{name}")


@pytest.mark.parametrize("program", [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_loop_prints_what_the_program_prints(calm: SparkSession, facts: Path, program: str) -> None:
    found = import_module(f"benchmarks.rivals.{program}").answer(calm, facts)
    assert found.printed == _printed(program, facts)
    assert found.rounds > 1


@pytest.mark.slow
@pytest.mark.parametrize("program", ["tc", "cc", "sssp"])
def test_recursive_sql_that_is_told_when_to_stop(calm: SparkSession, facts: Path, program: str) -> None:
    from benchmarks.rivals import with_recursive

    assert with_recursive.answer(calm, program, facts, 6).printed == _printed(program, facts)


@pytest.mark.slow
def test_recursive_sql_misses_rows_of_rules_with_two_recursive_atoms(calm: SparkSession, tmp_path: Path) -> None:
    from benchmarks.rivals import with_recursive

    (tmp_path / "Arc.facts").write_text("1\t2\n2\t3\n3\t4\n", encoding="utf-8")
    assert _printed("tc_nonlinear", tmp_path) == {"Tc": 6}
    assert with_recursive.answer(calm, "tc_nonlinear", tmp_path, 3).printed == {"Tc": 5}


def test_recursive_sql_has_no_relations_through_one_another(calm: SparkSession, facts: Path) -> None:
    from benchmarks.rivals import with_recursive
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        with_recursive.answer(calm, "cspa", facts, 3)


def _printed(program: str, facts: Path) -> dict[str, object]:
    loaded = Program.load(PROGRAMS / program / "program.dl")
    result = loaded.run(engine="naive", facts_dir=facts)
    shown = {directive.relation for directive in loaded.compilation.program.io if directive.kind != "input"}
    return {name: next(iter(result[name]))[0] if name == "Check" else len(result[name]) for name in shown}

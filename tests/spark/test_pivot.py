"""Columns that keep their values from row to row, and strata cut into parts along them."""

from __future__ import annotations

import pytest

from flintlog.api.user_program import Program
from flintlog.engines.spark.embedded.placement import EVERYWHERE
from flintlog.engines.spark.strata.pivot import decompose, find_pivots
from flintlog.ir.program import Program as IrProgram
from flintlog.ir.program import Stratum
from flintlog.ir.shared import without_shared

LEFT = "p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z)."
RIGHT = "p(x, y) :- e(x, y). p(x, z) :- e(x, y), p(y, z)."
BOTH = "p(x, y) :- e(x, y). p(x, z) :- p(x, y), p(y, z)."
CONSTANT = "p(1, y) :- e(1, y). p(x, z) :- p(x, y), e(y, z). p(x, x) :- e(x, _)."
NEGATED = "p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z), !e(z, x)."
SWAPPED = "p(x, y) :- e(x, y). p(y, x) :- p(x, y)."


def recursive_stratum(rules: str, declarations: str = "") -> tuple[IrProgram, Stratum]:
    text = f"""
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .output p
        {declarations} {rules}
    """
    program = without_shared(Program(text).optimised())
    return program, next(stratum for stratum in program.strata if stratum.recursive)


@pytest.mark.parametrize(
    ("rules", "pivots"),
    [
        (LEFT, {"p": 0}),
        (RIGHT, {"p": 1}),
        (BOTH, None),
        (CONSTANT, {"p": 0}),
        (NEGATED, {"p": 0}),
        (SWAPPED, None),
    ],
)
def test_the_pivot_of_a_stratum(rules: str, pivots: dict[str, int] | None) -> None:
    assert find_pivots(*recursive_stratum(rules)) == pivots


def test_mutual_recursion_keeps_a_column_under_different_places() -> None:
    rules = "p(x, y) :- e(x, y). q(y, x) :- p(x, y), e(y, _). p(x, z) :- q(y, x), e(y, z)."
    program, stratum = recursive_stratum(rules, ".decl q(y: number, x: number) .output q")
    assert find_pivots(program, stratum) == {"p": 0, "q": 1}


def test_a_merged_column_is_no_pivot() -> None:
    program, stratum = recursive_stratum("p(x, MIN(y)) :- e(x, y). p(z, MIN(y)) :- p(x, y), e(x, z).")
    assert find_pivots(program, stratum) is None


def test_rules_that_start_rows_read_only_those_of_their_task() -> None:
    program, stratum = recursive_stratum(LEFT)
    parts = decompose(program, stratum, {"p": 0})
    assert parts.reads == {"e@0": ("e", 0), "e": ("e", EVERYWHERE), "p": ("p", 0)}
    assert parts.whole is None


def test_rows_that_no_input_sends_anywhere_are_computed_everywhere() -> None:
    program, stratum = recursive_stratum(CONSTANT)
    parts = decompose(program, stratum, {"p": 0})
    assert parts.whole is not None
    assert [rule.relation for rule in parts.whole.rules] == ["p@all"]
    assert parts.reads["e@0"] == ("e", 0), "the rule of the diagonal"

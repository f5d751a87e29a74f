"""A rule that repeats another one goes."""

from __future__ import annotations

import pytest
from tests.passes.ir_text import lowered, passed

from flintlog.ir.program import Program
from flintlog.passes.duplicate_rules import duplicate_rules
from flintlog.passes.fusion import fusion

DECLARATIONS = """
    .decl e(x: number, y: number) .input e
    .decl f(x: number) .input f
    .decl r(x: number, y: number) .output r
"""


def rules_left(rules: str) -> list[int]:
    program: Program = passed(duplicate_rules, passed(fusion, lowered(DECLARATIONS + rules)))
    return [rule.id for stratum in program.strata for rule in stratum.rules]


@pytest.mark.parametrize(
    "rules",
    [
        "r(x, y) :- e(x, y). r(a, b) :- e(a, b).",
        "r(x, z) :- e(x, y), e(y, z). r(a, c) :- e(b, c), e(a, b).",
        "r(x, y) :- e(x, y), f(x), !f(y). r(a, b) :- e(a, b), f(a), !f(b).",
        "r(x, y) :- e(x, y), x > 1, y < 2. r(a, b) :- e(a, b), b < 2, a > 1.",
        "r(x, y) :- e(x, y), x < y, x != 3. r(x, y) :- e(x, y), y > x, 3 != x.",
        "r(x, x) :- f(x), x < 3. r(y, y) :- f(y), y < 3.",
        "r(x, n) :- f(x), n = count : { e(x, _) }. r(a, k) :- f(a), k = count : { e(a, _) }.",
    ],
)
def test_the_same_in_other_words(rules: str) -> None:
    assert rules_left(rules) == [1]


@pytest.mark.parametrize(
    "rules",
    [
        "r(x, y) :- e(x, y). r(x, y) :- e(y, x).",
        "r(x, z) :- e(x, y), e(y, z). r(x, z) :- e(y, x), e(y, z).",
        "r(x, y) :- e(x, y), x > 1. r(x, y) :- e(x, y), y > 1.",
        "r(x, y) :- e(x, y), x > 1. r(x, y) :- e(x, y), x >= 1.",
        "r(x, y) :- e(x, y), !f(x). r(x, y) :- e(x, y), !f(y).",
        "r(x, n) :- f(x), n = count : { e(x, _) }. r(x, n) :- f(x), n = count : { e(_, x) }.",
        "r(x, n) :- f(x), n = sum y : { e(x, y) }. r(x, n) :- f(x), n = max y : { e(x, y) }.",
        "r(x, autoinc()) :- f(x). r(x, autoinc()) :- f(x).",
    ],
)
def test_not_the_same(rules: str) -> None:
    assert rules_left(rules) == [1, 2]


def test_the_rule_with_a_plan_stays() -> None:
    one, other = "r(x, z) :- e(x, y), e(y, z).", "r(a, c) :- e(a, b), e(b, c). .plan 0: (2, 1)"
    assert rules_left(f"{one} {other}") == [2]
    assert rules_left(f"{other} {other}") == [1, 2]

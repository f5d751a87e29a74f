"""Relations whose one rule can stand in their place."""

from __future__ import annotations

import pytest
from tests.passes.ir_text import answer, body_of, lowered, passed, same_tree

from flintlog.ir.program import Program
from flintlog.passes.inline_relations import inline_relations
from flintlog.types import Row

DECLARATIONS = """
    .decl e(x: number, y: number) .input e
    .decl f(x: number) .input f
    .decl r(x: number, y: number) .output r
"""
FACTS: dict[str, list[Row]] = {"e": [(1, 2), (2, 3), (3, 1), (2, 2), (4, 0)], "f": [(2,), (3,)]}


def inlined(rules: str, **settings: object) -> Program:
    program = lowered(DECLARATIONS + rules)
    result = passed(inline_relations, program, {"r"}, **settings)
    assert answer(result, FACTS)["r"] == answer(program, FACTS)["r"]
    return result


M = ".decl m(x: number, y: number) "


@pytest.mark.parametrize(
    "rules",
    [
        M + "m(x, y) :- e(x, y). r(x, z) :- m(x, y), m(y, z).",
        M + "m(y, x) :- e(x, y). r(x, y) :- e(x, y). r(x, z) :- r(x, y), m(y, z).",
        M + "m(y, x) :- e(x, y). r(x, y) :- e(x, y), !m(x, y).",
        M + "m(y, x) :- e(x, y). r(x, n) :- f(x), n = count : { m(x, _) }.",
        M + "m(x, y) :- e(x, y), x != y, !f(y). r(x, y) :- m(x, y), e(y, _).",
        M + "m(x, y) :- e(x, y), f(x). r(x, z) :- m(x, y), e(y, z).",
        M + ".decl k(x: number, y: number) k(x, y) :- e(y, x). m(x, y) :- k(x, y), f(x). r(x, y) :- m(y, x).",
    ],
)
def test_goes(rules: str) -> None:
    assert set(inlined(rules).relations) <= {"e", "f", "r"}


@pytest.mark.parametrize(
    "rules",
    [
        # It is read twice, or round by round, and would have to be computed as often.
        M + "m(x, y) :- e(x, y), f(x). r(x, z) :- m(x, y), m(y, z).",
        M + "m(x, y) :- e(x, y), f(x). r(x, y) :- e(x, y). r(x, z) :- r(x, y), m(y, z).",
        # In place, the same rows would come again and again.
        M + "m(x, z) :- e(x, y), e(y, z). r(x, z) :- m(x, y), e(y, z).",
        M + "m(x, x) :- e(x, _). r(x, z) :- m(x, y), e(y, z).",
        # No index could look a computed column up.
        M + "m(x, x + 1) :- f(x). r(x, z) :- m(x, y), e(y, z).",
        # Two rules; facts; its own rule.
        M + "m(x, y) :- e(x, y). m(x, y) :- e(y, x). r(x, y) :- m(x, y).",
        M + "m(1, 2). r(x, y) :- m(x, y).",
        M + "m(x, y) :- e(x, y), f(x). m(x, z) :- m(x, y), e(y, z). r(x, y) :- m(x, y).",
        # What counts is what the negation or the aggregate sees.
        M + "m(x, y) :- e(x, y), f(x). r(x, y) :- e(x, y), !m(x, y).",
        M + "m(x, y) :- e(x, y), f(x). r(x, n) :- f(x), n = count : { m(x, _) }.",
        # What may fail stays where it is.
        M + "m(x, y) :- e(x, y), y != 0, 6 / y > 1. r(x, y) :- m(x, y), f(x).",
        # More than the rows of its rules, or fewer.
        ".decl m(x: number, y: number) eqrel m(x, y) :- e(x, y). r(x, y) :- m(x, y).",
        ".decl m(x: number, y: number) choice-domain x m(x, y) :- e(x, y). r(x, y) :- m(x, y).",
        M + "m(x, y) :- e(x, y). m(x, a) <= m(x, b) :- a < b. r(x, y) :- m(x, y).",
        ".decl m(x: number, y: number) no_inline m(x, y) :- e(x, y). r(x, y) :- m(x, y).",
        # The order of the reader's atoms is pinned.
        M + "m(x, y) :- e(x, y). r(x, z) :- m(x, y), e(y, z). .plan 0: (2, 1)",
        M + "m(x, autoinc()) :- f(x). r(x, y) :- m(x, y).",
        M + ".printsize m m(x, y) :- e(x, y). r(x, y) :- m(x, y).",
        M + ".input m m(x, y) :- e(x, y). r(x, y) :- m(x, y).",
    ],
)
def test_stays(rules: str) -> None:
    assert "m" in inlined(rules).relations


def test_the_pragma_wins() -> None:
    rules = M + "m(y, x) :- e(x, y). r(x, y) :- m(x, y)."
    assert "m" in inlined(rules, pragmas={"inline-exclude": "k, m"}).relations
    assert "m" in inlined(rules, pragmas={"inline-exclude": "*"}).relations
    assert "m" not in inlined(rules, pragmas={"inline-exclude": "k"}).relations


def test_the_rule_stands_in_its_place() -> None:
    program = inlined(M + "m(x, y) :- e(x, y), f(x), x > 1. r(x, z) :- m(x, y), e(y, z).")
    after = """
        join [y] (x, y = z)
          join [x] (x, y)
            map (x, y)
              where (x > 1)
              scan e(x: number, y: number)
            scan f(x: number)
          scan e(y: number, z: number)
    """
    assert same_tree(body_of(program, 2), after)

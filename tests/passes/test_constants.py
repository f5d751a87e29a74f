"""Constants are computed and carried to where they are used; what may fail is left for the run."""

from __future__ import annotations

import pytest
from tests.passes.ir_text import answer, body_of, lowered, passed, rewritten, same_tree

from flintlog.passes.constants import constants

GRAPH = """
    relation edge(x: number, y: number)
    relation word(s: symbol)
    relation real(x: float)
    relation out(x: number)
    input edge
    input word
    input real
    stratum edge
    stratum word
    stratum real
"""


@pytest.mark.parametrize(
    ("value", "folded"),
    [
        ("(2 * (3 + 4))", "14"),
        ("strlen(cat(`a`, `b`))".replace("`", '"'), "2"),
        ('to_number("12")', "12"),
        ("(7 / 2)", "3"),
        ("(9223372036854775807 + 1)", "-9223372036854775808"),
        ("part([1, y], 1): number", "y"),
        ("max(1, 5, 3)", "5"),
        # These have no value, or one to warn of.
        ("(1 / 0)", "(1 / 0)"),
        ("(1 % 0)", "(1 % 0)"),
        ('to_number("x")', 'to_number("x")'),
        ('strlen(substr("abc", 9, 1))', 'strlen(substr("abc", 9, 1))'),
        ("part([(1 / x), 2], 1): number", "part([(1 / x), 2], 1): number"),
        ('ord("a")', 'ord("a")'),
    ],
)
def test_folding(value: str, folded: str) -> None:
    tree = f"map (x = {value})\n  scan edge(x: number, y: number)"
    expected = tree.replace(value, folded)
    assert same_tree(rewritten(constants, GRAPH, tree), expected)


def test_the_word_size_counts() -> None:
    text = ".decl e(x: number) .input e .decl r(x: number) .output r r(x + (2147483647 + 1)) :- e(x)."
    program = lowered(text)
    assert "-2147483648" in body_of(passed(constants, program, word_size=32), 1)
    assert "2147483648" in body_of(passed(constants, program, word_size=64), 1)


CASES = {
    "a filter that always holds goes": (
        "map (x)\n  where (1 < 2)\n  where (x = x)\n  scan edge(x: number, y: number)",
        "map (x)\n  scan edge(x: number, y: number)",
    ),
    "a float may differ from itself": (
        "map (x = 1)\n  where (x = x)\n  scan real(x: float)",
        "map (x = 1)\n  where (x = x)\n  scan real(x: float)",
    ),
    "zero has two signs": (
        "map (x = ftoi((1.0 / x)))\n  where (x = 0.0)\n  scan real(x: float)",
        "map (x = ftoi((1.0 / x)))\n  where (x = 0.0)\n  scan real(x: float)",
    ),
    "not a number is computed at run time": (
        "map (x = ftoi((0.0 / 0.0)))\n  scan real(x: float)",
        "map (x = ftoi((0.0 / 0.0)))\n  scan real(x: float)",
    ),
    "a pattern that is none is reported at run time": (
        'map (x = 1)\n  where ("(" match "a")\n  scan word(s: symbol)',
        'map (x = 1)\n  where ("(" match "a")\n  scan word(s: symbol)',
    ),
    "a filter tells the value of a column": (
        "map (x = (y + 1))\n  where (y = 3)\n  where (x > y)\n  scan edge(x: number, y: number)",
        "map (x = 4)\n  where (y = 3)\n  where (x > 3)\n  scan edge(x: number, y: number)",
    ),
    "names for names go": (
        "map (x = b)\n  let a: number = y\n  let b: number = a\n  scan edge(x: number, y: number)",
        "map (x = y)\n  scan edge(x: number, y: number)",
    ),
    "a guard stays before what it guards": (
        "map (x = d)\n  where (y != 0)\n  let d: number = (x / y)\n  scan edge(x: number, y: number)",
        "map (x = d)\n  where (y != 0)\n  let d: number = (x / y)\n  scan edge(x: number, y: number)",
    ),
    "a join with a constant filters the other side": (
        """
        join [y] (x)
          map (x, y)
            where (y = 5)
            scan edge(x: number, y: number)
          join [z] (y)
            scan edge(y: number, z: number)
            scan edge(z: number, w: number)
        """,
        """
        join [y] (x)
          map (x, y)
            where (y = 5)
            scan edge(x: number, y: number)
          join [z] (y)
            map (y, z)
              where (y = 5)
              scan edge(y: number, z: number)
            scan edge(z: number, w: number)
        """,
    ),
    "what has no rows denies nothing": (
        """
        map (x)
          antijoin [x]
            scan edge(x: number, y: number)
            map (x)
              where never
              scan edge(x: number, w: number)
        """,
        "map (x)\n  scan edge(x: number, y: number)",
    ),
    "a part without rows is no part": (
        """
        concat
          map (x)
            where (1 > 2)
            scan edge(x: number, y: number)
          map (x = y)
            scan edge(x: number, y: number)
        """,
        "concat\n  map (x = y)\n    scan edge(x: number, y: number)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_tree(case: str) -> None:
    before, after = CASES[case]
    assert same_tree(rewritten(constants, GRAPH, before), after)


def test_a_rule_without_rows_goes_unless_it_may_fail() -> None:
    text = """
        .decl e(x: number) .input e .decl r(x: number) .output r
        r(x) :- e(x), 1 > 2. r(x) :- e(x), e(1 / x), 1 > 2. r(1)."""
    rules = [rule.id for stratum in passed(constants, lowered(text)).strata for rule in stratum.rules]
    assert rules == [2, 3]


def test_counts_of_nothing_stay() -> None:
    text = ".decl e(x: number) .input e .decl r(x: number) .output r r(n) :- n = count : { e(x), x < x }."
    program = lowered(text)
    assert answer(passed(constants, program), {"e": [(1,)]})["r"] == answer(program, {"e": [(1,)]})["r"] == {(0,)}


def test_nothing_changes_where_the_numbers_of_symbols_show() -> None:
    text = '.decl e(x: symbol) .input e .decl r(x: number) .output r r(ord(cat("a", "b"))) :- e(_).'
    program = lowered(text)
    assert passed(constants, program) is program

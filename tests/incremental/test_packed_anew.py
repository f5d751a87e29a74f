"""Heads that a rule computes may need another packing of a relation's rows, in the middle of an update that searches
them."""

from __future__ import annotations

import pytest
from tests.incremental.states import Database, assert_equation

DECLARATIONS = """
    .decl b(x: number, y: number)
    .decl e(x: number, y: number)
    .decl f(x: number, y: number)
    .decl q(x: number, y: number)
    q(x, y) :- e(x, y).
"""
COPIED = "q(x, y) :- f(x, y)."
JOINED = "q(x, z) :- f(x, y), q(y, z)."
FACTORS = [1_000, 1_000_000, 1_000_000_000_000]  # with the last, no word holds a row


def database(rules: str, length: int, factor: int, f: set[tuple[int, int]]) -> Database:
    text = f"{DECLARATIONS} q(x * {factor}, y * {factor}) :- b(x, y). {rules}"
    return Database(text, {"e": {(i, i + 1) for i in range(length)}, "b": set(), "f": f})


def steps(number: int) -> set[tuple[int, int]]:
    return {(i, i + 3) for i in range(number)}


@pytest.mark.parametrize("strategy", ["update", "dred", "counting"])
@pytest.mark.parametrize("factor", FACTORS)
def test_searches_of_the_same_round_go_on(factor: int, strategy: str) -> None:
    some = database(JOINED, 3000, factor, {(0, 1)})
    some.change({}, {"f": {(5, 6)}}, strategy=strategy)
    some.change({}, {"b": {(1, 1)}, "f": steps(50)}, strategy=strategy)
    assert_equation(some)


@pytest.mark.parametrize("factor", FACTORS)
def test_rows_are_found_where_they_are(factor: int) -> None:
    some = database(COPIED, 100, factor, steps(50))
    some.change({"f": steps(50)}, {"b": {(1, 1)}}, strategy="update")
    assert_equation(some)


@pytest.mark.parametrize("length", [10, 4000])
@pytest.mark.parametrize("factor", FACTORS)
def test_rows_that_come_have_room(factor: int, length: int) -> None:
    some = database(COPIED, length, factor, {(0, 1)})
    some.state.prepare()
    some.change({}, {"b": {(1, 1)}, "f": steps(450)}, strategy="update")
    assert_equation(some)


@pytest.mark.parametrize("strategy", ["update", "dred", "counting"])
def test_a_rule_that_comes_is_searched_to_its_end(strategy: str) -> None:
    """It has more instances than are found at a time."""
    rule = "q(x, (z band 511) * 1000000000000) :- b(x, y), q(y, z)."
    n = 300
    some = Database(
        DECLARATIONS, {"e": {(i % n, i // n) for i in range(n * n)}, "b": {(i, i + 1) for i in range(n - 1)}}
    )
    some.change({}, {}, DECLARATIONS + rule, strategy)
    assert_equation(some)


@pytest.mark.parametrize("strategy", ["auto", "update", "dred", "counting"])
def test_rows_that_others_are_better_than_need_no_rule(strategy: str) -> None:
    some = Database(
        """
        .decl p(k: number, v: number)
        .decl r(k: number, v: number)
        p(k, v) <= p(k, w) :- w <= v.
        r(k, v) :- p(k, v).
        """,
        {"p": {(1, 5), (2, 3)}},
    )
    some.change({}, {"p": {(1, 3), (2, 9)}}, strategy=strategy)
    assert some.rows("p") == some.rows("r") == {(1, 3), (2, 3)}
    assert_equation(some)
    some.change({"p": {(1, 3)}}, {}, strategy=strategy)
    assert some.rows("p") == some.rows("r") == {(1, 5), (2, 3)}
    assert_equation(some)

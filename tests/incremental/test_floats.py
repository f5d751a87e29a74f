"""Floats are rows by their bits: -0.0 does not stand for 0.0, and NaN is itself."""

from __future__ import annotations

from math import copysign, inf, nan
from pathlib import Path

import pytest

import flintlog as fl
from flintlog.incremental.upkeep import STRATEGIES

PRODUCTS = """
    .decl p(x: number, v: float)
    .decl k(v: float)
    .decl q(x: number, v: float)
    q(x, v) :- p(x, a), v = a * 0.0, k(v).
    .decl r(v: float)
    r(v) :- p(_, a), v = a + 1.0, !k(v).
"""


def signs(database: fl.Database) -> set[tuple[object, float]]:
    return {(x, copysign(1.0, v)) for x, v in database["q"] if isinstance(v, float)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_zeros_of_two_signs(tmp_path: Path, strategy: str) -> None:
    facts = {"p": [(1, 1.0)], "k": [(0.0,), (-0.0,)]}
    with fl.Database.create(tmp_path / "d", fl.Program(PRODUCTS), facts, budget=5) as database:
        with database.transaction(strategy) as change:
            change.insert("p", [(1, -1.0)])
        assert database.check() == []
        assert signs(database) == {(1, 1.0), (1, -1.0)}
        with database.transaction(strategy) as change:
            change.delete("p", [(1, 1.0)])
        assert database.check() == []
        assert signs(database) == {(1, -1.0)}


def test_zeros_of_two_signs_in_one_transaction(tmp_path: Path) -> None:
    program = fl.Program(".decl a(v: float)  .decl pair(v: float, w: float)  pair(v, w) :- a(v), a(w).")
    with fl.Database.create(tmp_path / "d", program) as database:
        with database.transaction() as change:
            change.insert("a", [(0.0,), (-0.0,)])
        assert (len(database["a"]), len(database["pair"])) == (2, 4)
        with database.transaction() as change:
            change.delete("a", [(0.0,)])
            change.insert("a", [(-0.0,)])
        [(left,)] = database["a"]
        assert isinstance(left, float)
        assert copysign(1.0, left) == -1.0
        assert database.check() == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_no_number(tmp_path: Path, strategy: str) -> None:
    facts = {"p": [(1, nan), (2, nan), (1, 3.0)], "k": [(nan,)]}
    with fl.Database.create(tmp_path / "d", fl.Program(PRODUCTS), facts, budget=5) as database:
        assert database.check() == []
        with database.transaction(strategy) as change:
            change.delete("p", [(2, nan)])
        assert database.check() == []
        expected = fl.Program(PRODUCTS).run({**facts, "p": [(1, nan), (1, 3.0)]})
        assert {name: len(database[name]) for name in "qr"} == {name: len(expected[name]) for name in "qr"}


EXTREMES = """
    .decl p(x: number, v: float)
    .decl low(x: number, v: float)
    low(x, v) :- p(x, _), v = min w : { p(x, w) }.
    .decl high(x: number, v: float)
    high(x, v) :- p(x, _), v = max w : { p(x, w) }.
    .decl best(x: number, v: float)
    best(x, MAX(v)) :- p(x, v).
    best(x, MAX(v)) :- best(y, v), x = y + 1, x < 3.
    .decl both(v: float)
    both(min(v, w)) :- p(0, v), p(1, w).
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_extremes_do_not_depend_on_the_order_of_rows(tmp_path: Path, strategy: str) -> None:
    """NaN is above everything, and -0.0 below 0.0."""
    rows = [(x, v) for x in (0, 1) for v in (1.0, nan, -nan, -0.0, -inf)]
    program = fl.Program(EXTREMES)
    shown = {}
    for order in (rows, rows[::-1], rows[3:] + rows[:3]):
        result = program.run(p=order)
        shown[str(order)] = {name: sorted(map(str, result[name])) for name in ("low", "high", "best", "both")}
    assert len(set(map(str, shown.values()))) == 1
    assert shown[str(rows)]["high"] == ["(0, nan)", "(1, nan)"]
    with fl.Database.create(tmp_path / "d", program, {"p": rows[:1]}, budget=5) as database:
        for row in (*rows[1:], (0, 0.0), *rows[::2], (0, 0.0)):
            with database.transaction(strategy) as change:
                there = row in database["p"]
                (change.delete if there else change.insert)("p", [row])
            assert database.check() == []

"""Floats are rows by their bits: -0.0 does not stand for 0.0, and NaN is itself."""

from __future__ import annotations

from math import copysign, nan
from pathlib import Path

import pytest

import flintlog as fl
from flintlog.incremental.epoch import STRATEGIES

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

"""Kernels come back for room, indexes and wider ranges in the middle of an update, and go on as if nothing had been."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.incremental.states import Database, assert_equation

import flintlog as fl
from flintlog.engines.local.storage import index
from flintlog.incremental.rows import relation_block, row_log
from flintlog.incremental.strategies import workspace
from flintlog.incremental.strategies.rounds_update import RoundsUpdate
from flintlog.incremental.strategies.switch import OverBudget

Row = tuple[int, ...]

DECLARATIONS = """
    .decl e(x: number, y: number)
    .decl p(x: number, y: number)
    .decl q(x: number, y: number)
    .decl n(x: number)
"""
PROGRAMS = {
    "linear": "p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z).",
    "nonlinear": "p(x, y) :- e(x, y). p(x, z) :- p(x, y), p(y, z). q(x, x) :- p(x, x). n(x) :- q(x, _), !e(x, x).",
    "mutual": "p(x, y) :- e(x, y). q(y, x) :- p(x, y). p(x, z) :- q(x, y), e(y, z). q(1, x) :- p(x, 2), q(x, x).",
    "computed": "n(x) :- e(x, _). n(x + 7) :- n(x), x < 4000, e(x % 31, _). q(x, y * 1000) :- n(x), e(x % 29, y).",
    "negated": "p(x, y) :- e(x, y), !e(y, x). q(x, z) :- p(x, y), p(y, z), !p(x, z). q(x, z) :- q(x, y), q(y, z).",
}
WIDE = """
    .decl e(x: number, y: number)
    .decl p(x: number, y: number, z: number)
    .decl q(x: number, y: number)
    p(x, y, x) :- e(x, y).
    p(x, z, y) :- p(x, y, _), e(y, z).
    q(x, y) :- p(x, y, z), !e(z, y).
"""


@pytest.fixture
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for next to nothing at first."""
    for name in ("_FEW_ROUNDS", "_FEW_ROWS"):
        monkeypatch.setattr(workspace, name, 1)
    monkeypatch.setattr(workspace, "_FEW_WORDS", 32)
    monkeypatch.setattr(workspace, "_KEPT_WORDS", 64)
    monkeypatch.setattr(relation_block, "_LEAST_ROOM", 1)
    monkeypatch.setattr(row_log, "FEW_NEW", 1)
    monkeypatch.setattr(index, "FEW_MORE", 1)


def edges(chance: random.Random, number: int, scale: int = 1) -> set[Row]:
    return {(scale * chance.randrange(40), scale * chance.randrange(40)) for _ in range(number)}


def changes(chance: random.Random, there: set[Row], scale: int) -> tuple[set[Row], set[Row]]:
    """Facts that go, and facts that come."""
    gone = set(chance.sample(sorted(there), min(len(there), chance.randrange(8))))
    return gone, edges(chance, chance.randrange(12), scale) - there


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rules", PROGRAMS.values(), ids=PROGRAMS)
def test_room_is_made_as_it_is_needed(cramped: None, rules: str, seed: int) -> None:
    script(DECLARATIONS + rules, seed)


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_no_word_holds(cramped: None, seed: int) -> None:
    script(WIDE, seed, scale=10**9)


def script(text: str, seed: int, scale: int = 1) -> None:
    chance = random.Random(seed)
    there = edges(chance, 30, scale)
    database = Database(text, {"e": there})
    for epoch in range(10):
        gone, come = changes(chance, there, 10 ** (3 * (epoch // 3)) * scale if epoch < 7 else scale)
        database.change({"e": gone}, {"e": come}, strategy="update")
        there = there - gone | come
        assert_equation(database)


@pytest.mark.parametrize("rules", PROGRAMS.values(), ids=PROGRAMS)
def test_an_update_is_given_up_where_kernels_come_back(
    cramped: None, monkeypatch: pytest.MonkeyPatch, rules: str
) -> None:
    left = 0
    provide = RoundsUpdate._provide

    def provide_or_give_up(self: RoundsUpdate, need: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OverBudget
        provide(self, need)

    monkeypatch.setattr(RoundsUpdate, "_provide", provide_or_give_up)
    chance = random.Random(7)
    there = edges(chance, 30)
    database = Database(DECLARATIONS + rules, {"e": there})
    for calls in (0, 1, 2, 3, 5, 8, 13, 21, 34, 10_000):
        left = calls
        gone, come = changes(chance, there, 1)
        database.change({"e": gone}, {"e": come}, strategy="update")
        there = there - gone | come
        assert_equation(database)


def test_hundreds_of_rounds_and_thousands_of_rows() -> None:
    chain = {(i, i + 1) for i in range(700)}
    database = Database(DECLARATIONS + PROGRAMS["linear"], {"e": chain})
    for link in (0, 350, 699):
        database.change({"e": [(link, link + 1)]}, {}, strategy="update")
        assert_equation(database)
        database.change({}, {"e": [(link, link + 1)]}, strategy="update")
        assert_equation(database)


def test_symbols_that_come_need_no_other_packing(tmp_path: Path) -> None:
    """Those that a relation has first may be few, and lie anywhere among all of them."""
    text = """
        .decl name(s: symbol) .decl late(s: symbol, n: number)
        .decl both(s: symbol)
        both(s) :- name(s), late(s, _).
    """
    names, late = [(f"n{i}",) for i in range(1000)], [(f"l{i}", i) for i in range(20)]
    with fl.Database.create(tmp_path / "d", fl.Program(text), {"name": names, "late": late}) as database:
        kept = database._maintained.state.relations["late"]
        before = kept.relation.layout
        with database.transaction() as change:
            change.insert("late", [("n7", 3), ("new", 4)])
        assert list(change.result["both"].inserted) == [("n7",)]
        assert kept.relation.layout == before
        assert database.check() == []


def test_symbols_that_come_do_not_make_rows_wide(tmp_path: Path) -> None:
    """Where rows would not fit into a word any more, or hardly, they stay as they are."""
    names, few = [(f"n{i}",) for i in range(50_000)], [("a", "b", "c", f"{i}") for i in range(20)]
    text = ".decl name(s: symbol) .decl few(w: symbol, x: symbol, y: symbol, z: symbol)"
    with fl.Database.create(tmp_path / "d", fl.Program(text), {"name": names, "few": few}) as database:
        kept = database._maintained.state.relations["few"]
        assert kept.relation.packing is not None
        assert database.check() == []

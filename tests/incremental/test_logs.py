"""Logs of relations: others that take their place, what runs leave on them, interrupts while they are written."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import flintlog as fl
from flintlog.diagnostics import Diagnostic
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows import maintained_relation as room
from flintlog.incremental.rows.maintained_relation import MaintainedRelation

CLOSURE = """
    .decl e(x: number, y: number)
    .decl p(x: number, y: number)
    .decl q(x: number, y: number)
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
    q(x, y) :- p(x, y), p(y, x).
"""


def chain(start: int, end: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(start, end)]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[fl.Database]:
    with fl.Database.create(tmp_path / "db", fl.Program(CLOSURE), e=chain(0, 5)) as database:
        yield database


def test_former_logs_are_let_go(database: fl.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "FEW", 0)
    state = database._maintained.state

    def others() -> list[str]:
        gc.collect()
        current = [kept.relation for kept in state.relations.values()]
        relations = [each for each in gc.get_objects() if isinstance(each, Relation)]
        return [
            each.name for each in relations if each.name in state.relations and all(each is not one for one in current)
        ]

    for strategy, change in [("update", chain(100, 101)), ("bootstrap", chain(6, 20)), ("update", chain(101, 102))]:
        with database.transaction(strategy=strategy) as transaction:
            transaction.insert("e", change)
        assert others() == []
    with database.transaction(strategy="bootstrap") as transaction:
        transaction.delete("e", chain(3, 20))
    assert others() == []
    assert database.check() == []


JOINED = """
    .decl d(x: number, y: number)
    .decl a(y: number, z: number)
    .decl b(z: number, w: number)
    .decl found(x: number, z: number, w: number)
    found(x, z, w) :- d(x, y), a(y, z), b(z, w).
"""


def test_indexes_of_a_run_do_not_outlive_what_they_depend_on(tmp_path: Path) -> None:
    """Most rows of `a` find nothing in `b`: a run leaves them out of its index. Then `b` gets what they find."""
    facts = {
        "d": [(i, i) for i in range(5)],
        "a": [(i % 50, i) for i in range(5000)],
        "b": [(i, j) for i in range(50) for j in range(100)],
    }
    question = "d(x, y), a(y, z), b(z, w)"
    with fl.Database.create(tmp_path / "db", fl.Program(JOINED), facts) as database:
        assert len(list(database.query(question))) == len(database["found"]) == 500
        with database.transaction(strategy="bootstrap") as change:
            change.insert("b", [(i, 7) for i in range(1000, 1100)])
        assert len(list(database.query(question))) == len(database["found"]) == 510
        assert database.check() == []


def test_relations_that_show_rounds(database: fl.Database) -> None:
    with database.transaction() as change:
        change.add_rule(".decl shown = debug_delta(p)\n.output shown")
    assert len(database["shown"]) == 15
    with pytest.raises(fl.FlintlogError, match="E226"), database.transaction() as change:
        change.insert("shown", [(1, 2, 3)])
    with database.transaction() as change:
        change.insert("e", chain(50, 90))
    assert database.check() == []
    assert {row[:2] for row in database["shown"]} == {*database["p"]}


@pytest.mark.parametrize("step", ["_write", "_new_table", "_publish"])
def test_an_interrupt_while_rows_are_packed_anew(
    database: fl.Database, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, real = iter([True]), getattr(Relation, step)

    def interrupted_once(self: Relation, *arguments: object) -> object:
        if next(first, False):
            raise KeyboardInterrupt
        return real(self, *arguments)

    before = {name: sorted(database[name]) for name in database}
    monkeypatch.setattr(Relation, step, interrupted_once)
    with pytest.raises(KeyboardInterrupt), database.transaction() as change:
        change.insert("e", [(10**6, 10**9)])
    assert {name: sorted(database[name]) for name in database} == before
    with database.transaction() as change:
        change.insert("e", [(5, 10**9), (10**9, 10**12)])
    assert database.check() == []
    assert (0, 10**12) in database["p"]


def test_a_log_that_cannot_be_written_anew_stays(database: fl.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: MaintainedRelation) -> MaintainedRelation:
        raise fl.FlintlogError([Diagnostic("E803", "no memory")])

    monkeypatch.setattr(MaintainedRelation, "without_what_is_gone", full)
    with database.transaction() as change:
        change.delete("e", chain(0, 3))
    assert database.check() == []
    assert sorted(database["p"]) == [(3, 4), (3, 5), (4, 5)]


WORSE = {
    "aggregate": "d(x, MIN(c)) :- e(x, c).",
    "subsumption": "d(x, c) :- e(x, c).\nd(x, a) <= d(x, b) :- b < a.",
}


@pytest.mark.parametrize("rules", WORSE.values(), ids=WORSE)
def test_given_rows_that_others_are_better_than(rules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have places behind those of the log, for which there is no room yet when the log has just begun."""
    monkeypatch.setattr(room, "FEW", 3)
    program = fl.Program(f".decl e(x: number, c: number)\n.decl d(x: number, c: number)\n{rules}")
    given = [(i, 5) for i in range(64)]
    with fl.Database.create(tmp_path / "db", program, d=[*given, (0, 9)], e=chain(100, 400)) as database:
        assert database.check() == []
        for strategy in ("update", "bootstrap"):
            with database.transaction(strategy=strategy) as change:
                change.delete("e", chain(100, 400))
            assert set(database["d"]) == set(given)
            assert database.check() == []
            with database.transaction(strategy=strategy) as change:
                change.insert("e", chain(100, 400))
        with database.transaction() as change:
            change.delete("d", [(0, 5)])
        assert (0, 9) in set(database["d"])
    with fl.Database.open(tmp_path / "db") as database:
        assert database.check() == []

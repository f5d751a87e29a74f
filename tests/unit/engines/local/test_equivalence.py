"""Equivalences in columns have, round by round, the rows of the reference engine's tables; only what is new costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import any_int64, for_all, words
from tests.unit.engines.local.probing import insert, machine, rows_of

from flintlog.api.user_program import Program
from flintlog.engines.local import equivalence
from flintlog.engines.local import fixpoint as columnar
from flintlog.engines.local import row_strata as by_rows
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.local.equivalence import Classes, Equivalence
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine, Evaluation
from flintlog.engines.reference.table import Table
from flintlog.ir import program as ir
from flintlog.types import Row

COLUMNS: list[Engine] = [LocalEngine(patience=0), LocalEngine(threads=2, patience=0)]
NAIVE: list[Engine] = [NaiveEngine(), NaiveEngine(semi_naive=False)]


@cache
def compiled(text: str) -> ir.Program:
    return Program(text).compilation.program


@pytest.fixture
def no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no stratum be evaluated row by row."""
    monkeypatch.delattr(columnar, "run_by_rows")


def agree(text: str, facts: dict[str, list[Row]]) -> dict[str, set[Row]]:
    """What every engine says about a program."""
    expected, *others = (engine.run(compiled(text), Evaluation(facts)) for engine in (*NAIVE, *COLUMNS))
    for found in others:
        assert all(len(rows) == len(set(rows)) for rows in found.values())
        assert {name: set(rows) for name, rows in found.items()} == {n: set(rows) for n, rows in expected.items()}
    return {name: set(rows) for name, rows in expected.items()}


# --- The relation -------------------------------------------------------------------------------------

_table_relation = compiled(".decl same(x: number, y: number) eqrel").relations["same"]


@pytest.mark.parametrize("value", [st.integers(0, 12), st.integers(-40, 1 << 20), any_int64], ids=str)
@pytest.mark.parametrize("pairs_at_once", [1, 5, 1 << 18])
def test_a_round_brings_the_rows_that_a_table_gets(value: st.SearchStrategy[int], pairs_at_once: int):
    @for_all(st.lists(st.lists(st.tuples(value, value), max_size=8), max_size=5), examples=40)
    def check(rounds: list[list[tuple[int, int]]]) -> None:
        relation, table = Relation("same", 2), Table(_table_relation, machine())
        closed = Equivalence(relation)
        for batch in rounds:
            insert(relation, batch)
            closed.complete()
            added = [new for pair in batch for new in table.add(pair)]
            assert relation.next_round() == len(added)
            assert sorted(rows_of(relation, relation.delta, relation.visible)) == sorted(added)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equivalence, "PAIRS", pairs_at_once)
        patch.setattr(equivalence, "ROWS", 3)
        check()


def merged(classes: Classes, pairs: Iterable[tuple[int, int]]) -> tuple[set[int], set[Row], int]:
    """The values that are looked at for some pairs, what is new about them, and how many pairs that takes."""
    left, right = zip(*pairs, strict=True)
    known = classes.count
    result = classes.merge(known, classes.unite(words(left), words(right)))
    parts = list(result.pairs())
    new = [pair for a, b in parts for pair in zip(a.tolist(), b.tolist(), strict=True)]
    assert result.count == len(new)
    return set(result.values.tolist()), set(new), len(new)


def test_a_pair_that_is_new_is_made_once_and_other_classes_are_not_looked_at():
    classes = Classes()
    values, new, count = merged(classes, [(1, 2), (3, 4), (4, 5), (6, 6), (7, 8)])
    assert values == {1, 2, 3, 4, 5, 6, 7, 8}
    assert count == len(new) == 4 + 9 + 1 + 4
    values, new, count = merged(classes, [(2, 1), (1, 5), (4, 2)])
    assert values == {1, 2, 3, 4, 5}
    assert new == {*product((1, 2), (3, 4, 5)), *product((3, 4, 5), (1, 2))}
    assert count == 12
    values, new, count = merged(classes, [(6, 9)])
    assert values == {6, 9}
    assert new == {(6, 9), (9, 6), (9, 9)}
    assert count == 3
    assert merged(classes, [(9, 6), (8, 8)]) == (set(), set(), 0)


def test_a_class_is_made_in_parts_that_are_not_much_larger_than_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(equivalence, "PAIRS", 1000)
    classes = Classes()
    lost = classes.unite(np.arange(299), np.arange(1, 300))
    sizes = [left.size for left, _ in classes.merge(0, lost).pairs()]
    assert sum(sizes) == 300 * 300
    assert max(sizes) <= 1000


def test_long_chains_in_any_order():
    edges = np.random.default_rng(1).permutation(np.arange(20_000)[np.arange(20_000) % 100 != 99])
    relation = Relation("same", 2)
    relation.insert([edges, edges + 1], edges.size)
    ticks: list[int] = []
    Equivalence(relation).complete(lambda: ticks.append(relation.size))
    assert relation.next_round() == relation.size == 200 * 100 * 100
    left, right = relation.columns()
    assert (left // 100 == right // 100).all()
    assert ticks == sorted(ticks) != []


# --- Programs -----------------------------------------------------------------------------------------

# Classes bring further pairs: by congruence, through another equivalence, through a relation that is none.
GROWING = """
.decl given(x: number, y: number)
.decl f(x: number, y: number)
.decl same(x: number, y: number) eqrel
same(x, y) :- given(x, y).
same(y, w) :- same(x, z), f(x, y), f(z, w).
same(x, z) :- other(x, y), step(y, z), x < 4.
.decl other(x: number, y: number) eqrel
other(x, y + 1) :- same(x, y), x < y, y < 9.
.decl step(x: number, y: number)
step(x, y) :- other(x, y), f(y, x).
step(x, z) :- step(x, y), same(y, z), !f(z, x).

.decl apart(x: number, y: number)
apart(x, y) :- same(x, x), same(y, y), !same(x, y).
.decl least(x: number, y: number, n: number)
least(x, y, n) :- same(x, _), y = min z : { same(x, z) }, n = count : { other(x, _) }.
"""

_pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=7)


@pytest.mark.usefixtures("no_rows")
def test_classes_that_bring_further_pairs():
    @for_all(_pairs, _pairs, _pairs, _pairs, examples=80)
    def check(given: list[Row], f: list[Row], same: list[Row], other: list[Row]) -> None:
        agree(GROWING, {"given": given, "f": f, "same": same, "other": other})

    check()


@pytest.mark.usefixtures("no_rows")
@pytest.mark.parametrize("limit", [1, 5, 10, 20, 50])
def test_a_limit_is_looked_at_after_the_closure(limit: int):
    text = f"""
.decl same(x: number, y: number) eqrel
same(0, 1).
same(y, y + 1) :- same(_, y), y < 30.
.limitsize same(n={limit})
"""
    size = len(agree(text, {})["same"])
    assert limit <= size < 31 * 31


@pytest.mark.usefixtures("no_rows")
def test_facts_alone_are_closed():
    text = """
.decl same(x: symbol, y: symbol) eqrel
.decl far(x: number, y: number) eqrel
.decl seen(x: symbol)
seen(x) :- same("a", x), !same(x, "d").
"""
    least, most = -(1 << 63), (1 << 63) - 1
    facts: dict[str, list[Row]] = {"same": [("a", "b"), ("c", "b"), ("d", "e")], "far": [(least, 5), (most, 5)]}
    found = agree(text, facts)
    assert found["seen"] == {("a",), ("b",), ("c",)}
    assert found["far"] == set(product((least, 5, most), repeat=2))


@pytest.mark.parametrize(
    "other",
    [
        ".decl r(x: number, y: number) choice-domain x\nr(x, 0) :- same(x, _).",
        ".decl r(x: number, y: number)\nr(x, y) :- same(x, y).\nr(x, y) <= r(x, z) :- z < y, z > 0.",
        ".decl r(x: number, y: number)\nr(1, autoinc()) :- 1 = 1.\nr(x, 9) :- same(x, _).",
        ".decl r(x: number, y: number)\nr(x, MIN(y)) :- same(x, y).",
        ".decl r(x: number, y: number)\nr(x, y) :- same(x, y).\n.decl d = debug_delta(same)",
    ],
)
def test_what_stands_in_a_stratum_with_rows_is_run_by_rows(other: str, monkeypatch: pytest.MonkeyPatch):
    text = f"""
.decl same(x: number, y: number) eqrel
same(1, 2). same(3, 4).
same(x + 2, y) :- same(x, y), x < 2, r(x, _).
{other}
"""
    runs: list[str] = []

    def watched(program: ir.Program, stratum: ir.Stratum, *rest: Any) -> None:
        runs.extend(stratum.relations)
        by_rows.run_by_rows(program, stratum, *rest)

    monkeypatch.setattr(columnar, "run_by_rows", watched)
    found = agree(text, {"same": [(4, 5)]})
    assert {"same", "r"} <= set(runs)
    assert {(3, 5), (5, 5)} <= found["same"]

"""Sources are joined in the order that finds the fewest rows on the way."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from tests.unit.engines.local.probing import Row, rows_of, visible

from flintlog.engines.local.join_order import EXHAUSTIVE, PROBE_COST, best_order
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Query, Rows
from flintlog.ir.nodes import Let
from flintlog.ir.scalar import Call, Column, Const
from flintlog.types import Kind


def variable(name: str) -> Column:
    return Column(name, Kind.NUMBER)


def rows(source: str, names: str) -> Rows:
    return Rows(source, tuple(variable(name) for name in names))


def ordered(query: Query, delta: int | None, store: dict[str, Relation]) -> list[Rows]:
    return best_order(query, delta, Statistics(lambda literal: store.get(str(literal.source))))


def named(order: list[Rows]) -> list[str]:
    return [str(literal.source) for literal in order]


def cost(first: Rows, order: tuple[Rows, ...] | list[Rows], store: dict[str, Relation]) -> float:
    """What an order really costs, by joining."""
    bindings: list[dict[str, int]] = [{}]
    total = 0.0
    for literal in (first, *order):
        names, known = [v.name for v in literal.variables], rows_of(store[str(literal.source)])
        total += len(bindings) * PROBE_COST
        bindings = [
            {**binding, **dict(zip(names, row, strict=True))}
            for binding in bindings
            for row in known
            if all(binding.get(name, value) == value for name, value in zip(names, row, strict=True))
        ]
        total += len(bindings)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_the_order_is_about_as_cheap_as_the_cheapest(seed: int):
    random = np.random.default_rng(seed)

    def some(count: int, top: int) -> list[Row]:
        return list(zip(*(random.integers(0, top, count).tolist() for _ in range(2)), strict=True))

    sizes = random.permutation([10, 40, 80, 150])
    store = {name: visible(2, some(int(size), 30)) for name, size in zip("dabc", sizes, strict=True)}
    literals = rows("d", "xy"), rows("a", "yz"), rows("b", "zx"), rows("c", "yw")
    found = ordered(Query(list(literals), []), 0, store)
    cheapest = min(cost(literals[0], order, store) for order in permutations(literals[1:]))
    assert cost(literals[0], found, store) <= 1.5 * cheapest


def test_a_source_that_refuses_most_comes_before_one_that_multiplies():
    many = [(i % 10, i) for i in range(1000)]
    store = {"d": visible(2, [(i, i) for i in range(10)]), "many": visible(2, many), "few": visible(1, [(3,)])}
    literals = rows("d", "xy"), rows("many", "xz"), rows("few", "y")
    assert named(ordered(Query(list(literals), []), 0, store)) == ["few", "many"]


def test_a_computed_value_can_be_looked_up():
    store = {name: visible(2, [(i, i) for i in range(50)]) for name in "dab"}
    let = Let(variable("z"), Call("+", (variable("x"), Const(1, Kind.NUMBER)), Kind.NUMBER))
    literals = rows("d", "xy"), rows("a", "uv"), rows("b", "zu"), let
    assert named(ordered(Query(list(literals), []), 0, store)) == ["b", "a"]


@pytest.mark.parametrize("delta", [None, 0])
def test_more_sources_than_are_tried_in_every_order(delta: int | None):
    count = EXHAUSTIVE + 4
    store = {f"r{i}": visible(2, [(k, k) for k in range(20 + i)]) for i in range(count)}
    chain = [rows(f"r{i}", "abcdefghijklmnop"[i : i + 2]) for i in range(count)]
    shuffled = [chain[0], *(chain[1 + i * 7 % (count - 1)] for i in range(count - 1))]
    found = ordered(Query(list(shuffled), []), delta, store)
    assert sorted(named(found)) == sorted(f"r{i}" for i in range(count) if i or delta is None)
    bound = {v.name for v in chain[0].variables} if delta == 0 else {v.name for v in found[0].variables}
    for literal in found:
        names = {v.name for v in literal.variables}
        assert names & bound  # never a cross product
        bound |= names

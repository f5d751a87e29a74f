"""One meaning, several ways to write it: shortest paths, equivalences."""

from __future__ import annotations

from functools import cache
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine, Evaluation
from flintlog.ir import program as ir
from flintlog.types import Row

NODES = range(5)
ENGINES: list[Engine] = [
    NaiveEngine(),
    NaiveEngine(semi_naive=False),
    LocalEngine(patience=0),
    LocalEngine(threads=2, patience=0),
]
_nodes = st.sampled_from(NODES)
_graphs = st.dictionaries(st.tuples(_nodes, _nodes), st.integers(0, 6), max_size=10)
_pairs = st.sets(st.tuples(_nodes, _nodes), max_size=6)


@cache
def compiled(text: str) -> ir.Program:
    return Program(text).compilation.program


SHORTEST = """
.decl edge(x: number, y: number, cost: number)
.decl source(x: number)

.decl by_head(x: number, cost: number)
by_head(x, MIN(0)) :- source(x).
by_head(y, MIN(c + d)) :- by_head(x, c), edge(x, y, d).

.decl by_plain_fact(x: number, cost: number)
by_plain_fact(x, 0) :- source(x).
by_plain_fact(y, MIN(c + d)) :- edge(x, y, d), by_plain_fact(x, c).

.decl by_max(x: number, cost: number)
by_max(x, MAX(0)) :- source(x).
by_max(y, MAX(c - d)) :- by_max(x, c), edge(x, y, d).
.decl from_max(x: number, cost: number)
from_max(x, -c) :- by_max(x, c).

.decl by_subsumption(x: number, cost: number) btree_delete
by_subsumption(x, 0) :- source(x).
by_subsumption(y, c + d) :- by_subsumption(x, c), edge(x, y, d).
by_subsumption(x, c) <= by_subsumption(x, d) :- d < c.

.decl bounded(x: number, cost: number)
bounded(x, 0) :- source(x).
bounded(y, c + d) :- bounded(x, c), edge(x, y, d), c + d <= 30.
.decl by_aggregate(x: number, cost: number)
by_aggregate(x, c) :- bounded(x, _), c = min d : { bounded(x, d) }.
"""


def shortest(edges: dict[tuple[int, int], int], start: int) -> set[tuple[int, int]]:
    """Bellman and Ford's way."""
    best = {start: 0}
    for _ in NODES:
        for (x, y), cost in edges.items():
            if x in best:
                best[y] = min(best.get(y, best[x] + cost), best[x] + cost)
    return set(best.items())


@given(_graphs, _nodes)
def test_shortest_paths(edges: dict[tuple[int, int], int], start: int) -> None:
    expected = shortest(edges, start)
    facts: dict[str, list[Row]] = {"edge": [(*pair, cost) for pair, cost in edges.items()], "source": [(start,)]}
    for semi_naive in (True, False):
        rows = NaiveEngine(semi_naive=semi_naive).run(compiled(SHORTEST), Evaluation(facts))
        for way in ("by_head", "by_plain_fact", "from_max", "by_subsumption", "by_aggregate"):
            assert set(rows[way]) == expected, way


EQUIVALENCE = """
.decl given(x: number, y: number)
.decl link(x: number, y: number)

.decl same(x: number, y: number) eqrel
same(x, y) :- given(x, y).
same(x, z) :- same(x, y), link(y, z), seen(y, x).
.decl seen(x: number, y: number)
seen(x, y) :- same(y, x), x != y.

.decl written(x: number, y: number)
written(x, y) :- given(x, y).
written(x, z) :- written(x, y), link(y, z), observed(y, x).
written(x, x) :- written(x, _).
written(y, x) :- written(x, y).
written(x, z) :- written(x, y), written(y, z).
.decl observed(x: number, y: number)
observed(x, y) :- written(y, x), x != y.

.decl classes(n: number)
classes(n) :- n = count : { least(_) }.
.decl least(x: number)
least(x) :- same(x, x), !smaller(x).
.decl smaller(x: number)
smaller(x) :- same(x, y), y < x.
"""


@given(_pairs, _pairs)
def test_an_equivalence_is_its_three_rules(given_pairs: set[tuple[int, int]], links: set[tuple[int, int]]) -> None:
    facts: dict[str, list[Row]] = {"given": list(given_pairs), "link": list(links)}
    for engine in ENGINES:
        rows = engine.run(compiled(EQUIVALENCE), Evaluation(facts))
        assert set(rows["same"]) == set(rows["written"])
        assert set(rows["seen"]) == set(rows["observed"])
        classes = {frozenset(y for y in NODES if (x, y) in rows["same"]) for x in NODES} - {frozenset()}
        assert set(rows["classes"]) == {(len(classes),)}
        assert {pair for one in classes for pair in product(one, one)} == set(rows["same"])

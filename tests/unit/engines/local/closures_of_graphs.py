"""Programs whose rules join, compute and repeat, and their answers by the reference engine."""

from __future__ import annotations

from functools import cache

import numpy as np

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine, Evaluation
from flintlog.types import Row

# Every pair of a rule's levels: scans and probes of relations that grow and that do not, tests, computed heads.
JOINS = """
.decl e(x: number, y: number)
.decl few(x: number)
.decl path(x: number, y: number)
path(x, y) :- e(x, y).
path(x, z) :- path(x, y), e(y, z).
.decl meet(x: number, y: number)
meet(x, y) :- e(z, x), e(z, y), few(y).
meet(x, y) :- e(a, x), meet(a, b), e(b, y), few(y).
.decl even(x: number, y: number)
even(x, x) :- few(x).
even(x, z) :- even(x, y), e(y, w), e(w, z), few(z).
.decl far(x: number, y: number)
far(x, y) :- path(x, y), !e(x, y), x != y, !few(x).
"""

# Values far outside what relations had before, from a rule that reads its head by an index and from one that does not.
OUTSIDE = """
.decl e(x: number, y: number)
.decl far(x: number, y: number)
far(x, y * 1000003 * 1000003) :- e(x, y).
far(x, -x * 4611686018427387904) :- e(x, _).
.decl p(x: number, y: number)
p(x, y) :- e(x, y).
p(x, w) :- p(x, y), p(y, z), 0 <= z, z < 40, w = z * 100000007 - x.
p(x, w) :- p(x, y), p(y, z), 0 <= z, z < 40, w = x * 1000000007 * 1000000007 + y.
.decl up(x: number, y: number)
up(x, y) :- e(x, y), x < 3.
up(x, y * 16) :- up(x, y), 0 < y, y < 1152921504606846976.
up(x, y - 77777777777) :- up(x, y), -5000000000000 < y, y < 100.
"""


@cache
def graph(nodes: int, edges: int) -> tuple[Row, ...]:
    random = np.random.default_rng(nodes)
    ends = random.integers(0, nodes, edges).tolist(), random.integers(0, nodes, edges).tolist()
    return tuple(dict.fromkeys(zip(*ends, strict=True)))


def facts(nodes: int, edges: int) -> dict[str, list[Row]]:
    return {"e": list(graph(nodes, edges)), "few": [(i,) for i in range(0, nodes, 9)]}


def answers(engine: Engine, text: str, nodes: int, edges: int) -> dict[str, set[Row]]:
    program = Program(text).compilation.program
    given = {name: rows for name, rows in facts(nodes, edges).items() if name in program.relations}
    found = engine.run(program, Evaluation(given))
    assert all(len(rows) == len(set(rows)) for rows in found.values())
    return {name: set(rows) for name, rows in found.items()}


@cache
def expected(text: str, nodes: int, edges: int) -> dict[str, set[Row]]:
    return answers(NaiveEngine(), text, nodes, edges)


def agrees(text: str, nodes: int, edges: int, threads: int = 1) -> bool:
    """Whether the embedded engine has the answers of the reference engine."""
    return answers(LocalEngine(threads, patience=0), text, nodes, edges) == expected(text, nodes, edges)

"""Joins that begin with what is new find what the joins of the plan find."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest

from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.engines.spark.dataframe.sql.delta_first import Joined, delta_first
from flintlog.ir import program as ir
from flintlog.ir.nodes import JoinFlatMap, Node, Scan
from flintlog.ir.shared import without_shared
from flintlog.ir.visit import relations_of, walk

DECLARED = """
    .decl a(x: number, y: number) .input a
    .decl b(x: number, y: number) .input b
    .decl c(x: number, y: number, z: number) .input c
    .decl p(x: number, y: number) .output p
    .decl q(x: number, y: number) .output q
    p(x, y) :- a(x, y).
    q(x, y) :- b(x, y).
"""
RULES = {
    "two and two": "p(x, w) :- a(x, y), b(y, z), q(z, v), p(v, w).",
    "a cycle": "p(x, z) :- p(x, y), b(y, z), q(z, w), a(w, x).",
    "a triangle, and what it has": "p(x, z) :- p(x, y), q(y, z), p(x, z), c(x, y, k), a(k, z), b(k, _).",
    "what is computed on the way": "p(x, v + 1) :- p(x, y), z = y + 1, q(z, w), a(w, v), b(v, u), u < 9, v < 6.",
    "the same names again": "p(x, z) :- p(x, y), a(y, _), b(_, z), q(z, _), c(_, x, _).",
    "what is not there": "p(x, w) :- p(x, y), a(y, z), q(z, w), b(w, v), a(v, x), !c(x, y, z), !b(x, w).",
    "a product": "p(x, w) :- p(x, y), a(y, x), q(z, w), b(w, z).",
    "both ways": """
        p(x, w) :- p(x, y), c(y, z, u), q(z, v), c(v, u, w).
        q(x, w) :- q(x, y), c(y, z, u), p(z, v), c(v, u, w).
    """,
}
MOST_ORDERS = 40


def facts(seed: int) -> dict[str, list[tuple[int, ...]]]:
    chance = random.Random(seed)
    return {
        name: [tuple(chance.randrange(7) for _ in range(arity)) for _ in range(count)]
        for name, arity, count in (("a", 2, 9), ("b", 2, 9), ("c", 3, 40))
    }


def put_otherwise(program: ir.Program) -> Iterator[ir.Program]:
    """The program with one rule put around one of the scans of its stratum's relations."""
    for s, stratum in enumerate(program.strata):
        for r, rule in enumerate(stratum.rules):
            scans = [node for node in walk(rule.body) if isinstance(node, Scan) and node.relation in stratum.relations]
            for scan in scans:
                known = Joined(lambda node: len(node.schema), partial(reads, stratum.relations))
                body = delta_first(rule.body, scan, known)
                assert begins_with(body, scan, known)
                assert body.schema == rule.body.schema
                rules = (*stratum.rules[:r], replace(rule, body=body), *stratum.rules[r + 1 :])
                yield replace(
                    program, strata=(*program.strata[:s], replace(stratum, rules=rules), *program.strata[s + 1 :])
                )


def reads(names: Sequence[str], node: Node) -> bool:
    return not relations_of(node, {}).isdisjoint(names)


def begins_with(node: Node, scan: Scan, known: Joined) -> bool:
    """Whether no join of several that grow stands beside the way from the root to the scan, but for one that computes
    something."""
    while isinstance(node, JoinFlatMap):
        sides = [node.left, node.right]
        inner = next(side for side in sides if any(part is scan for part in walk(side)))
        [other] = [side for side in sides if side is not inner]
        joined = isinstance(other, JoinFlatMap) and node.on and not other.steps
        if joined and sum(known.grows(part) for part in walk(other) if isinstance(part, Scan)) > 1:
            return False
        node = inner
    return True


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_same_rows(rules: str) -> None:
    program = without_shared(Program(DECLARED + rules).optimised())
    for seed in range(3):
        given = {name: rows for name, rows in facts(seed).items() if name in program.relations}
        expected = NaiveEngine().run(program, Evaluation(facts=given))
        others = list(put_otherwise(program))[:MOST_ORDERS]
        assert others
        for other in others:
            assert NaiveEngine().run(other, Evaluation(facts=given)) == expected


def test_what_is_so_already_stays() -> None:
    program = Program(DECLARED + "p(x, z) :- p(x, y), b(y, z).").optimised()
    bodies = [rule.body for stratum in program.strata for rule in stratum.rules]
    for body in bodies:
        for scan in [node for node in walk(body) if isinstance(node, Scan)]:
            assert delta_first(body, scan, Joined(lambda node: 0.0, lambda node: True)) is body

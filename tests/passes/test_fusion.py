"""Logic fusion: FlowLog, section 4."""

from __future__ import annotations

import pytest
from tests.passes.ir_text import lowered, passed, rewritten, same_tree

from flintlog.ir.nodes import FlatMap, JoinFlatMap
from flintlog.ir.visit import walk
from flintlog.passes.fusion import fusion

GRAPH = """
    relation edge(x: number, y: number)
    relation reach(x: number)
    relation out(x: number)
    input edge
    stratum edge
"""


def test_figure_2() -> None:
    """The rule r2 of FlowLog's example 2.1. The map that brings edge's columns into the order of the join's key goes
    as well: columns have names here, and an engine makes the index it needs."""
    before = """
        map (x)
          join [z] (z, x)
            map (z, x)
              join [y] (y, x, z)
                map (y, x)
                  scan edge(x: number, y: number)
                scan edge(y: number, z: number)
            map (z)
              scan reach(z: number)
    """
    after = """
        join [z] (x)
          join [y] (z, x)
            scan edge(x: number, y: number)
            scan edge(y: number, z: number)
          scan reach(z: number)
    """
    assert same_tree(rewritten(fusion, GRAPH, before, "reach"), after)


CASES = {
    "a filter over a filter": (
        """
        map (x)
          where (x != y)
          map (x, y)
            where (x = 1)
            scan edge(x: number, y: number)
        """,
        """
        map (x)
          where (x = 1)
          where (x != y)
          scan edge(x: number, y: number)
        """,
    ),
    "what is computed and used twice is computed once": (
        """
        map (x = (s * s))
          map (s = (x + y))
            scan edge(x: number, y: number)
        """,
        """
        map (x = (s * s))
          let s: number = (x + y)
          scan edge(x: number, y: number)
        """,
    ),
    "what nobody uses is not computed": (
        """
        map (x)
          map (x, s = (x + y))
            scan edge(x: number, y: number)
        """,
        """
        map (x)
          scan edge(x: number, y: number)
        """,
    ),
    "unless computing it may fail": (
        """
        map (x)
          map (x, s = (x / y))
            scan edge(x: number, y: number)
        """,
        """
        map (x)
          let s: number = (x / y)
          scan edge(x: number, y: number)
        """,
    ),
    "names that swap places": (
        """
        map (x = (y - x))
          map (x = y, y = x)
            scan edge(x: number, y: number)
        """,
        """
        map (x = (x - y))
          scan edge(x: number, y: number)
        """,
    ),
    "a computed column does not take another one's name": (
        """
        map (x = (y + x))
          map (x = (x + y), y)
            scan edge(x: number, y: number)
        """,
        """
        map (x = (y + x$1))
          let x$1: number = (x + y)
          scan edge(x: number, y: number)
        """,
    ),
    "what comes from nothing is no side of a join": (
        """
        join [x] (x = (w + k))
          map (x = k, w = (k + 1))
            each k: number = range(0, 3)
            unit
          scan edge(x: number, k: number)
        """,
        """
        map (x = (w + k))
          each k$1: number = range(0, 3)
          where (x = k$1)
          let w: number = (k$1 + 1)
          scan edge(x: number, k: number)
        """,
    ),
    "unless it may fail": (
        """
        join [] (x)
          map (d = (1 / 0))
            unit
          scan reach(x: number)
        """,
        """
        join [] (x)
          map (d = (1 / 0))
            unit
          scan reach(x: number)
        """,
    ),
    "unions of unions": (
        """
        concat
          concat
            scan reach(x: number)
            map (x)
              scan edge(x: number, y: number)
          map (x = y)
            scan edge(x: number, y: number)
        """,
        """
        concat
          scan reach(x: number)
          map (x)
            scan edge(x: number, y: number)
          map (x = y)
            scan edge(x: number, y: number)
        """,
    ),
    "a union of one": ("concat\n  scan reach(x: number)", "scan reach(x: number)"),
    "a new name": ("map (x = z)\n  scan reach(z: number)", "scan reach(x: number)"),
}


@pytest.mark.parametrize("case", CASES)
def test_tree(case: str) -> None:
    before, after = CASES[case]
    assert same_tree(rewritten(fusion, GRAPH, before), after)


def test_the_order_of_columns_stays_where_it_matters() -> None:
    declarations = GRAPH.replace("relation out(x: number)", "relation out(x: number, y: number)")
    tree = "map (x = b, y = a)\n  scan edge(a: number, b: number)"
    assert same_tree(rewritten(fusion, declarations, tree), tree)


def test_lowered_rules_have_no_map_over_a_join() -> None:
    text = """
        .decl e(x: number, y: number) .input e .decl r(x: number) .output r
        r(x + z) :- e(x, y), e(y, z), x < z, !e(z, x), e(z, w), w = x + 1."""
    program = passed(fusion, lowered(text))
    for rule in program.strata[-1].rules:
        assert not [n for n in walk(rule.body) if isinstance(n, FlatMap) and isinstance(n.input, FlatMap | JoinFlatMap)]


def test_a_counter_counts_what_it_counted() -> None:
    text = """
        .decl e(x: number, y: number) .input e
        .decl r(x: number, n: number) .output r
        r(x, autoinc()) :- e(x, _), e(_, x)."""
    program = lowered(text)
    assert passed(fusion, program) is program

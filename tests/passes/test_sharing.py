"""Subplan sharing: FlowLog, section 7; and that engines read what is shared."""

from __future__ import annotations

from textwrap import dedent

import pytest
from tests.passes.ir_text import answer, body_of, lowered, passed, same_tree

from flintlog.ir.program import Program
from flintlog.ir.shared import without_shared
from flintlog.ir.text import parse_program, print_node, print_program
from flintlog.ir.verify import verify
from flintlog.passes.sharing import sharing

GRAPH = """
relation edge(x: number, y: number)
relation reach(x: number)
relation out(x: number)
relation more(x: number)
input edge
stratum edge
"""


def program_of(rest: str) -> Program:
    return parse_program(GRAPH + dedent(rest))


def test_figure_5() -> None:
    """Within the rule of Figure 3, the two maps of edge are the same but for the names of their columns."""
    program = passed(
        sharing,
        program_of("""
        stratum recursive reach
          rule 1 reach
            join [y] (x)
              map (y, x)
                scan edge(x: number, y: number)
              join [z] (y)
                map (z, y)
                  scan edge(y: number, z: number)
                scan reach(z: number)
        """),
    )
    after = """
        join [y] (x)
          shared 1 (y: number, x: number)
          join [z] (y)
            shared 1 (z: number, y: number)
            scan reach(z: number)
    """
    assert same_tree(body_of(program, 1), after)
    assert print_node(program.shared[1]) == "map (y, x)\n  scan edge(x: number, y: number)"


RULES = """
stratum recursive reach
  rule 1 reach
    map (x)
      scan edge(x: number, y: number)
  rule 2 reach
    join [z] (x = y)
      scan edge(y: number, z: number)
      scan reach(z: number)
stratum out
  rule 3 out
    map (x = a)
      join [b] (a)
        scan edge(a: number, b: number)
        scan reach(b: number)
stratum more
  rule 4 more
    join [v] (x = u)
      scan reach(v: number)
      scan edge(u: number, v: number)
"""


def test_a_join_is_shared_across_rules_and_strata_but_not_while_it_grows() -> None:
    program = passed(sharing, program_of(RULES))
    assert body_of(program, 3) == "shared 1 (x: number)"
    assert body_of(program, 4) == "shared 1 (x: number)"
    # Rule 2 has the same join, over a relation of its own stratum.
    assert "shared" not in body_of(program, 2)
    assert print_node(program.shared[1]).startswith("join [b] (a)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("r(x) :- e(x, y), e(y, 1).", "s(x) :- e(x, y), e(y, 2)."),
        ("r(x) :- e(x, y), f(y).", "s(y) :- e(x, y), f(x)."),
        ("r(x) :- e(x, _), f(_).", "s(x) :- e(x, _), f(_)."),  # cross products
        ("r(x) :- e(x, 1).", "s(x) :- e(x, 1)."),
        ("r(x + 0.0) :- g(x), g(x + 1.0).", "s(x - 0.0) :- g(x), g(x - 1.0)."),
        ("r(x) :- e(x, y), f(y).", "s(x) :- e(x, y), f(y). .plan 0: (2, 1)"),
    ],
)
def test_not_shared(one: str, other: str) -> None:
    kind = "float" if "g(" in one else "number"
    declarations = ".decl e(x: number, y: number) .input e .decl f(x: number) .input f .decl g(x: float) .input g"
    text = f"{declarations} .decl r(x: {kind}) .output r .decl s(x: {kind}) .output s {one} {other}"
    program = lowered(text)
    assert passed(sharing, program) is program


def test_an_aggregate_is_shared() -> None:
    text = """
        .decl e(x: number, y: number) .input e
        .decl r(x: number) .output r r(n) :- n = count : { e(_, _) }.
        .decl s(x: number) .output s s(n + 1) :- n = count : { e(_, _) }."""
    program = passed(sharing, lowered(text))
    assert len(program.shared) == 1
    facts = {"e": [(1, 2), (2, 3)]}
    assert answer(program, facts) == answer(lowered(text), facts)


def test_shared_subplans_may_share() -> None:
    text = """
        .decl e(x: number, y: number) .input e
        .decl r(x: number, y: number) .output r r(x, z) :- e(x, y), e(y, z), e(z, x).
        .decl s(x: number, y: number) .output s s(z, x) :- e(x, y), e(y, z), e(z, x).
        .decl t(x: number) .output t t(x) :- e(x, y), e(y, z), z != x."""
    program = passed(sharing, lowered(text))
    assert len(program.shared) == 2
    facts = {"e": [(1, 2), (2, 3), (3, 1), (1, 4)]}
    assert answer(program, facts) == answer(lowered(text), facts) == answer(without_shared(program), facts)


# --- Engines --------------------------------------------------------------------------------------

RECURSIVE = """
relation edge(x: number, y: number)
relation path(x: number, y: number)
input edge
stratum edge
stratum recursive path
  rule 1 path
    scan edge(x: number, y: number)
  rule 2 path
    join [y] (x, z)
      shared 1 (x: number, y: number)
      shared 1 (y: number, z: number)
shared 1
  map (p, q)
    where (p != q)
    scan path(p: number, q: number)
"""


@pytest.mark.parametrize("semi_naive", [True, False])
def test_a_shared_subplan_over_a_growing_relation_loses_no_rows(semi_naive: bool) -> None:
    program = parse_program(RECURSIVE)
    verify(program)
    facts = {"edge": [(i, i + 1) for i in range(10)]}
    rows = answer(program, facts, semi_naive=semi_naive)
    assert rows["path"] == {(i, j) for i in range(11) for j in range(i + 1, 11)}


def test_without_shared_nothing_is_shared() -> None:
    program = without_shared(parse_program(RECURSIVE))
    verify(program)
    assert "shared" not in print_program(program)
    assert without_shared(program) is program

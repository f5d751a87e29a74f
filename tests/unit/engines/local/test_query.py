"""Trees become conjunctive queries: joined columns are one variable, and every literal keeps its place."""

from __future__ import annotations

import pytest

from flintlog.diagnostics import InternalError
from flintlog.engines.queries.query import Absent, Rows, query_of, reads, recursive_rows
from flintlog.ir.nodes import Let as LetStep
from flintlog.ir.nodes import Node, Shared
from flintlog.ir.nodes import Where as WhereStep
from flintlog.ir.scalar import Column
from flintlog.ir.text import parse_program
from flintlog.types import Kind

RELATIONS = """
relation e(x: number, y: number)
relation f(x: number)
relation r(x: number, y: number)

stratum recursive r
  rule 1 r
"""


def tree(text: str) -> Node:
    """The body of a rule, as IR text with its margin removed."""
    lines = [f"    {line}" for line in text.strip("\n").splitlines()]
    return parse_program(RELATIONS + "\n".join(lines) + "\n").strata[0].rules[0].body


def shown(node: Node) -> list[str]:
    """The literals with their variables, numbered in order of appearance."""
    names: dict[str, str] = {}

    def name(column: object) -> str:
        assert isinstance(column, Column)
        return names.setdefault(column.name, f"v{len(names)}")

    lines = []
    query = query_of(node)
    for literal in query.literals:
        match literal:
            case Rows(source, variables):
                source_name = source if isinstance(source, str) else type(source).__name__
                lines.append(f"{source_name}({', '.join(map(name, variables))})")
            case Absent(_, on, values, wanted):
                lines.append(f"{'' if wanted else '!'}[{', '.join(on)}]({', '.join(map(name, values))})")
            case LetStep(column, value):
                lines.append(f"let {name(column)} of {len(reads(literal))}")
                assert value.kind is Kind.NUMBER
            case WhereStep():
                lines.append(f"where {', '.join(sorted(names[n] for n in reads(literal)))}")
            case _:
                lines.append("each")
    lines.append(f"-> {', '.join(name(v) if isinstance(v, Column) else type(v).__name__ for v in query.output)}")
    return lines


JOIN = """
map (x, y = z)
  join [y] (x, z)
    scan e(x: number, y: number)
    scan r(y: number, z: number)
"""


def test_a_join_unifies_variables():
    assert shown(tree(JOIN)) == ["e(v0, v1)", "r(v1, v2)", "-> v0, v2"]


def test_a_triangle_has_three_variables():
    text = """
map (x, y)
  join [x, z] (x, y)
    join [y] (x, y, z)
      scan e(x: number, y: number)
      scan e(y: number, z: number)
    scan r(x: number, z: number)
"""
    assert shown(tree(text)) == ["e(v0, v1)", "e(v1, v2)", "r(v0, v2)", "-> v0, v1"]


def test_a_computed_column_that_is_joined_is_its_variable():
    text = """
map (x, y = z)
  join [z] (x, z)
    map (x, z)
      let z: number = (x + 1)
      scan f(x: number)
    scan f(z: number)
"""
    assert shown(tree(text)) == ["f(v0)", "let v1 of 1", "f(v1)", "-> v0, v1"]


def test_a_projected_expression_that_is_joined_is_compared():
    text = """
map (x, y = z)
  join [z] (x, z)
    map (x, z = (x + 1))
      scan f(x: number)
    scan f(z: number)
"""
    assert shown(tree(text)) == ["f(v0)", "f(v1)", "where v0, v1", "-> v0, Call"]


def test_negation_keeps_the_columns_it_asks_for():
    text = """
map (x, y)
  where (x < y)
  antijoin [y]
    scan e(x: number, y: number)
    map (y)
      scan r(y: number, z: number)
"""
    assert shown(tree(text)) == ["e(v0, v1)", "![y](v1)", "where v0, v1", "-> v0, v1"]


def test_names_of_different_scopes_do_not_meet():
    text = """
map (x, y = x)
  join [] (x, y)
    map (x)
      scan e(x: number, y: number)
    map (y = x)
      scan f(x: number)
"""
    assert shown(tree(text)) == ["e(v0, v1)", "f(v2)", "-> v0, v0"]


def test_recursive_literals_are_found_by_relation():
    query = query_of(tree(JOIN))
    assert recursive_rows(query, ["r"]) == [1]
    assert recursive_rows(query, ["e", "r"]) == [0, 1]
    assert recursive_rows(query, ["f"]) == []


def test_a_node_without_a_query_is_a_bug_of_ours():
    with pytest.raises(InternalError):
        query_of(Shared(1, ()))

"""Rules to clauses: heads times alternatives, negation pushed down, nodes not shared."""

from __future__ import annotations

import pytest

from flintlog.check.checked import Clause, NegatedAtom
from flintlog.check.clauses.normalise import normalise_rule, normalise_subsumption
from flintlog.check.clauses.traverse import walk
from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse


def clauses(text: str) -> list[Clause]:
    report = Report()
    rule = parse(SourceFile("test.dl", text), report).items[0]
    assert isinstance(rule, ast.Rule)
    assert not report.has_errors
    return normalise_rule(rule, 7)


def shown(literal: ast.Node) -> str:
    match literal:
        case NegatedAtom():
            return "!" + shown(literal.atom)
        case ast.Negation():
            return "!" + shown(literal.body)
        case ast.Atom():
            return f"{literal.name}({', '.join(map(shown, literal.args))})"
        case ast.Constraint():
            return f"{shown(literal.left)} {literal.op} {shown(literal.right)}"
        case ast.BoolLit():
            return str(literal.value).lower()
        case ast.Variable():
            return literal.name
        case ast.Unnamed():
            return "_"
        case ast.NumberLit():
            return literal.text
        case _:
            return type(literal).__name__


BODIES = {
    "a(x), b(x)": ["a(x), b(x)"],
    "a(x) ; b(x)": ["a(x)", "b(x)"],
    "a(x), (b(x) ; c(x))": ["a(x), b(x)", "a(x), c(x)"],
    "(a(x) ; b(x)), (c(x) ; d(x))": ["a(x), c(x)", "a(x), d(x)", "b(x), c(x)", "b(x), d(x)"],
    "a(x), !b(x)": ["a(x), !b(x)"],
    "a(x), !!b(x)": ["a(x), b(x)"],
    "a(x), !(b(x), c(x))": ["a(x), !b(x)", "a(x), !c(x)"],
    "a(x), !(b(x) ; c(x))": ["a(x), !b(x), !c(x)"],
    "a(x), !(b(x) ; !c(x))": ["a(x), !b(x), c(x)"],
    "a(x), !(x < 1)": ["a(x), x >= 1"],
    "a(x), !(x <= 1)": ["a(x), x > 1"],
    "a(x), !(x = 1)": ["a(x), x != 1"],
    "a(x), !(x > 1, x < 9)": ["a(x), x <= 1", "a(x), x >= 9"],
    "a(x), !match(x, x)": ["a(x), x not_match x"],
    "a(x), !contains(x, x)": ["a(x), x not_contains x"],
    "a(x), !true": ["a(x), false"],
    "a(x), a(x)": ["a(x)"],
    "a(x), a(_), a(_)": ["a(x), a(_)"],
    "a(x) ; a(x), b(x)": ["a(x)"],
    "a(x), b(x) ; a(x)": ["a(x)"],
}


@pytest.mark.parametrize(("body", "expected"), BODIES.items(), ids=BODIES)
def test_bodies(body: str, expected: list[str]) -> None:
    assert [", ".join(map(shown, c.body)) for c in clauses(f"h(x) :- {body}.")] == expected


def test_one_clause_for_each_head_and_alternative() -> None:
    found = clauses("g(x), h(x) :- a(x) ; b(x).")
    assert [(c.head.name, shown(c.body[0])) for c in found] == [
        ("g", "a(x)"),
        ("g", "b(x)"),
        ("h", "a(x)"),
        ("h", "b(x)"),
    ]
    assert {c.origin for c in found} == {7}


def test_a_fact_has_an_empty_body() -> None:
    assert clauses("h(1).")[0].body == ()


def test_no_node_stands_in_two_clauses() -> None:
    found = clauses("g([x, 1]), h([x, 1]) :- a(x), (b(x) ; c(x)), y = count : { d(x) }.")
    nodes = [id(node) for clause in found for node in walk(clause)]
    assert len(nodes) == len(set(nodes))


def test_bodies_of_aggregates_are_conjunctions() -> None:
    [clause] = clauses("h(n) :- n = count : { (a(x), !b(x)), !(c(x) ; d(x)) }.")
    aggregate = next(node for node in walk(clause) if isinstance(node, ast.Aggregate))
    assert isinstance(aggregate.body, ast.Conjunction)
    assert ", ".join(map(shown, aggregate.body.items)) == "a(x), !b(x), !c(x), !d(x)"


def test_underscores_of_the_dominated_atom_get_names() -> None:
    report = Report()
    rule = parse(SourceFile("test.dl", "r(x, _, _) <= r(y, _, _) :- x < y ; x = y."), report).items[0]
    assert isinstance(rule, ast.Subsumption)
    found = normalise_subsumption(rule, 0)
    assert len(found) == 2
    _, second, third = found[0].dominated.args
    assert isinstance(second, ast.Variable)
    assert isinstance(third, ast.Variable)
    assert second.name != third.name
    assert all(isinstance(arg, ast.Unnamed) for arg in found[0].dominating.args[1:])

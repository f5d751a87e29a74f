"""What is lost with items that cannot be read."""

import pytest

from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse


def unread(text: str) -> ast.Unread | None:
    return parse(SourceFile("test.dl", text), Report()).unread


def test_a_whole_program_has_lost_nothing():
    assert unread(".decl a(x: number)\na(1)\n.output a") is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a(1 2).", set()),
        (".output a(", set()),
        (".decl a, b(x number)", {"a", "b"}),
        (".decl a(x: number) .decl b(x number)", {"a", "b"}),
        (".type T = A { x: number } | B { y }", {"T", "$"}),
        (".functor f(number) number", {"f"}),
        (".comp C<T { .decl a(x: T) }", {"C"}),
        (".init i C", {"i"}),
        (".declare a(x: number)", {"a"}),
        ("decl a()", {"a"}),
        (".ouput a", set()),
        (".decl count(x: number)", {"count"}),
        (".lattice T<> { Lbu -> 1 }", {"T"}),
    ],
)
def test_names_of_lost_items(text: str, names: set[str]):
    assert unread(text) == ast.Unread(frozenset(names))


@pytest.mark.parametrize("text", [".decl", '.include "missing.dl"', "#if 1", "/* a", '"decl a(x: number)', "}"])
def test_anything_may_be_lost(text: str):
    found = unread(text)
    assert found is not None
    assert found.anything


def test_what_does_not_fit_behind_a_declaration_spoils_it():
    program = parse(SourceFile("test.dl", ".decl a(x: number) : number)\n.decl b(x: number)"), Report())
    assert [item.name for item in program.items if isinstance(item, ast.RelationDecl)] == ["b"]


def test_a_string_without_end_in_a_macro_is_reported_where_it_is_used():
    report = Report()
    parse(SourceFile("test.dl", '#define TEXT "\n.decl a(x: symbol)\na(TEXT).'), report)
    assert [(d.code, d.span.line) for d in report.errors] == [("E101", 3)]

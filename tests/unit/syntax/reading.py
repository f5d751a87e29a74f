"""Short ways to read a program in these tests."""

from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse


def read(text: str, **options) -> tuple[tuple[ast.Item, ...], Report]:
    """The items of a program and what was reported about it."""
    report = Report()
    return parse(SourceFile("test.dl", text), report, **options).items, report


def items(text: str, **options) -> tuple[ast.Item, ...]:
    """The items of a program that has no errors."""
    result, report = read(text, **options)
    assert report.errors == []
    return result


def item(text: str, **options) -> ast.Item:
    (only,) = items(text, **options)
    return only


def argument(text: str) -> ast.Argument:
    """The one argument of a fact."""
    fact = item(f"r({text}).")
    assert isinstance(fact, ast.Rule)
    (only,) = fact.heads[0].args
    return only


def body(text: str) -> ast.Body:
    rule = item(f"r() :- {text}.")
    assert isinstance(rule, ast.Rule)
    assert rule.body is not None
    return rule.body


def problems(text: str, **options) -> list[tuple[str, int, int]]:
    """Code, line and column of everything reported, in order."""
    return [(d.code, d.span.line, d.span.column) for d in read(text, **options)[1].sorted()]

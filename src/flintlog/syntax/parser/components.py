"""Heads of components, their instances, and what they override."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import Token


def parse_component_head(cursor: Cursor) -> tuple[ast.ComponentType, tuple[ast.ComponentType, ...]]:
    """`.comp`, whose word has been read: its type and its bases. Moves past the brace that opens its body."""
    component = _component_type(cursor)
    bases: list[ast.ComponentType] = []
    while cursor.kind in (":", ","):
        cursor.advance()
        bases.append(_component_type(cursor))
    cursor.expect("{", "before the body of a component")
    return component, tuple(bases)


def _component_type(cursor: Cursor) -> ast.ComponentType:
    start = cursor.name("a component")
    params: list[str] = []
    if cursor.accept("<"):
        params.append(cursor.qualified_name("a component parameter")[0])
        while cursor.accept(","):
            params.append(cursor.qualified_name("a component parameter")[0])
        if cursor.kind != ">":
            cursor.unexpected("`,` or `>` after a component parameter")
        cursor.advance()
    return ast.ComponentType(start.text, tuple(params), span=cursor.since(start))


def parse_init(cursor: Cursor, start: Token) -> ast.Item:
    """`.init`, whose word has been read."""
    name = cursor.name("an instance").text
    cursor.expect("=", f"and a component after the instance `{name}`")
    return ast.Init(name, _component_type(cursor), span=cursor.since(start))


def parse_override(cursor: Cursor) -> ast.Item:
    """`.override`, whose word has been read."""
    name = cursor.name("a relation")
    return ast.Override(name.text, span=name.span)

"""Directives about relations, `.input` and its like, and pragmas."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.literals import string_value
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import IDENT, NUMBER, STRING, Token


def parse_directive(cursor: Cursor, start: Token) -> list[ast.Item]:
    """`.input`, `.output`, `.printsize` or `.limitsize`, whose word has been read: one directive for each relation."""
    relations = [cursor.qualified_name("a relation")]
    while cursor.accept(","):
        relations.append(cursor.qualified_name("a relation"))
    parameters = _parameters(cursor) if cursor.accept("(") else ()
    kind = start.text.removeprefix(".")
    return [ast.Directive(kind, name, parameters, span=span) for name, span in relations]


def _parameters(cursor: Cursor) -> tuple[ast.Parameter, ...]:
    if cursor.accept(")"):
        return ()
    parameters = [_parameter(cursor)]
    while cursor.accept(","):
        parameters.append(_parameter(cursor))
    if cursor.kind != ")":
        bare = cursor.previous.kind != STRING and not cursor.token.has_gap_after(cursor.previous)
        note = f"put the value of `{parameters[-1].key}` in double quotes" if bare else None
        cursor.unexpected("`,` or `)` after a parameter", note=note)
    cursor.advance()
    return tuple(parameters)


def _parameter(cursor: Cursor) -> ast.Parameter:
    key = cursor.name("a parameter")
    cursor.expect("=", f"and a value after the parameter `{key.text}`")
    token = cursor.token
    if token.kind == STRING:
        value = string_value(token, cursor.report)
    elif token.kind in (IDENT, NUMBER, "true", "false"):
        value = token.text
    else:
        cursor.unexpected(f"the value of the parameter `{key.text}`", note="put it in double quotes")
    cursor.advance()
    return ast.Parameter(key.text, value, span=cursor.since(key))


def parse_pragma(cursor: Cursor, start: Token) -> ast.Item:
    """`.pragma "key" "value"`, whose word has been read."""
    key = string_value(cursor.string("the name of a pragma"), cursor.report)
    value = string_value(cursor.advance(), cursor.report) if cursor.kind == STRING else ""
    return ast.Pragma(key, value, span=cursor.since(start))

"""Facts, rules, subsumption, and the plans that may follow them."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.literals import number_value
from flintlog.syntax.parser.annotations import skip_annotations
from flintlog.syntax.parser.bodies import parse_atom, parse_body
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import DIRECTIVE, END, IDENT, NUMBER, Token


def parse_clause(cursor: Cursor) -> ast.Item:
    """A fact, a rule or a subsumption, with its final dot."""
    start = cursor.token
    heads = [parse_atom(cursor)]
    if cursor.accept("<="):
        return _subsumption(cursor, start, heads[0])
    while cursor.kind in (",", ";"):  # FlowLog separates heads by `;`
        cursor.advance()
        skip_annotations(cursor)
        heads.append(parse_atom(cursor))
    if cursor.kind == ":-":
        cursor.advance()
        body = _body(cursor, start)
        span = cursor.since(start)
        return ast.Rule(tuple(heads), body, parse_plan(cursor), span=span)
    if len(heads) > 1:
        cursor.unexpected("`:-` after the heads of a rule", note="facts are written one by one, each with its own `.`")
    _end_of_clause(cursor, start, "`.` or `:-` after the head", _note_on_arrow(cursor))
    return ast.Rule((heads[0],), None, None, span=cursor.since(start))


def _subsumption(cursor: Cursor, start: Token, dominated: ast.Atom) -> ast.Item:
    dominating = parse_atom(cursor)
    if cursor.kind != ":-":
        cursor.unexpected("`:-` and a body after the atoms of a subsumption")
    cursor.advance()
    body = _body(cursor, start)
    span = cursor.since(start)
    return ast.Subsumption(dominated, dominating, body, parse_plan(cursor), span=span)


def _body(cursor: Cursor, start: Token) -> ast.Body:
    skip_annotations(cursor)
    body = parse_body(cursor)
    note = "if a new rule begins before `:-`, the rule above it must end with `.`" if cursor.kind == ":-" else None
    _end_of_clause(cursor, start, "`,` or `.` in the body of a rule", note)
    return body


def _end_of_clause(cursor: Cursor, start: Token, expected: str, note: str | None) -> None:
    if cursor.accept("."):
        return
    if cursor.next_item_begins(start):
        # The rule is whole but for its dot: say so where the dot belongs, and read on.
        cursor.report.error("E108", "a rule or fact ends with `.`", cursor.end_of_previous, note="write `.` here")
        return
    cursor.unexpected(expected, note=note)


def _note_on_arrow(cursor: Cursor) -> str | None:
    """For those who write the arrow between head and body in another way."""
    pair = cursor.token.text + cursor.peek().text
    if pair in (":-", "<-", "<=", ":=", "::", "=:") or cursor.kind in ("<", ":", "=", "->"):
        return "head and body are separated by `:-`, written without a space"
    return None


def at_plan(cursor: Cursor) -> bool:
    return cursor.kind == DIRECTIVE and cursor.token.text == ".plan"


def parse_plan(cursor: Cursor) -> ast.Plan | None:
    """`.plan 0: (2, 1), 1: (1, 2)` after a rule, if there is one. FlowLog's bare `.plan` says nothing more."""
    if not at_plan(cursor):
        return None
    start = cursor.advance()
    if cursor.kind != NUMBER and (cursor.kind in (IDENT, DIRECTIVE, END) or cursor.kind == "}"):
        return None
    orders = [_order(cursor)]
    while cursor.accept(","):
        orders.append(_order(cursor))
    return ast.Plan(tuple(orders), span=cursor.since(start))


def _order(cursor: Cursor) -> tuple[int, tuple[int, ...]]:
    version = _number(cursor, "the number of a version in a plan")
    cursor.expect(":", "after the number of a version")
    cursor.expect("(", "before the order of the atoms")
    order: list[int] = []
    if cursor.kind != ")":
        order.append(_number(cursor, "the number of an atom"))
        while cursor.accept(","):
            order.append(_number(cursor, "the number of an atom"))
    cursor.expect(")", "after the order of the atoms")
    return version, tuple(order)


def _number(cursor: Cursor, what: str) -> int:
    if cursor.kind != NUMBER:
        cursor.unexpected(what)
    return number_value(cursor.advance().text)

"""Aggregates, `sum x : { body }` and a program's own `@@f x : init, { body }`; the functors min and max beside them."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.parser import arguments, bodies
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import IDENT, Token


def parse_aggregate(cursor: Cursor) -> ast.Argument:
    """An aggregate, or `min(a, b)`: what follows the first argument in parentheses tells."""
    start = cursor.advance()
    targets: list[ast.Argument] = []
    if cursor.kind == "(":
        opening = cursor.advance()
        first = arguments.parse_argument(cursor)
        if cursor.accept(","):
            return _functor(cursor, start, first)
        if cursor.kind != ")":
            note = _note(start.text) if cursor.kind == "(" else None
            cursor.unexpected(f"`)` after the argument of `{start.text}`", note=note)
        cursor.advance()
        targets.append(arguments.continue_argument(cursor, opening, first))
    elif cursor.kind != ":":
        targets.append(arguments.parse_argument(cursor))
    while targets and cursor.accept(","):
        targets.append(arguments.parse_argument(cursor))
    if cursor.kind != ":":
        cursor.unexpected(f"`:` and a body after `{start.text}`", note=_note(start.text))
    cursor.advance()
    body = _body(cursor)
    span = cursor.since(start)
    _check_targets(cursor, start, targets)
    return ast.Aggregate(start.text, targets[0] if targets else None, body, span=span)


def _note(name: str) -> str:
    note = f"an aggregate is written `{_example(name)}`"
    return note + f", the {name}imum of two values `{name}(x, y)`" if name in ("min", "max") else note


def _example(name: str) -> str:
    return "count : { body }" if name == "count" else f"{name} x : {{ body }}"


def _functor(cursor: Cursor, start: Token, first: ast.Argument) -> ast.Argument:
    rest = arguments.parse_arguments(cursor, ")") if cursor.kind != ")" else ()
    if not rest:
        cursor.unexpected("an argument after `,`")
    span = cursor.since(start)
    if start.text not in ("min", "max"):
        message = f"`{start.text}` works on a body, not on several arguments"
        cursor.spoil("E122", message, span, note=f"write `{_example(start.text)}`")
    return ast.Functor(start.text, (first, *rest), span=span)


def _check_targets(cursor: Cursor, start: Token, targets: list[ast.Argument]) -> None:
    wanted = 0 if start.text == "count" else 1
    if len(targets) == wanted:
        return
    if wanted == 0:
        message, place = "`count` takes no expression: it counts the matches of its body", targets[0].span
    elif not targets:
        message, place = f"`{start.text}` needs the expression it works on", start.span
    else:
        message, place = f"`{start.text}` works on one expression, not on {len(targets)}", targets[1].span
    cursor.spoil("E121", message, place, note=f"write `{_example(start.text)}`")


def parse_user_aggregate(cursor: Cursor, start: Token) -> ast.Argument:
    """The aggregate whose first `@` has been read."""
    cursor.expect("@", "after `@`")
    name = cursor.name("a functor")
    targets: list[ast.Argument] = []
    if cursor.kind != ":":
        targets.append(arguments.parse_argument(cursor))
        while cursor.accept(","):
            targets.append(arguments.parse_argument(cursor))
    cursor.expect(":", f"and the initial value after `@@{name.text}`")
    initial = arguments.parse_argument(cursor)
    cursor.expect(",", "and a body after the initial value")
    body = _body(cursor)
    if len(targets) > 1:
        message = f"`@@{name.text}` works on one expression; the others are not looked at"
        cursor.report.warning("W106", message, targets[1].span, note="leave the others out")
    return ast.UserAggregate(name.text, targets[0] if targets else None, initial, body, span=cursor.since(start))


def _body(cursor: Cursor) -> ast.Body:
    if cursor.kind == IDENT:
        return bodies.parse_atom(cursor)
    opening = cursor.token
    if cursor.kind != "{":
        cursor.unexpected("`{` or an atom: the body of the aggregate")
    cursor.advance()
    body = bodies.parse_body(cursor)
    if cursor.kind != "}":
        cursor.unexpected("`,` or `}` in the body of an aggregate")
    cursor.advance()
    if len(_alternatives(body)) > 1:
        message = "the body of an aggregate cannot have alternatives"
        note = "define a relation with one rule for each alternative, and aggregate over that relation"
        cursor.spoil("E120", message, cursor.since(opening), note=note)
    return body


_Literal = tuple[bool, ast.Body]


def _alternatives(body: ast.Body, negated: bool = False) -> list[frozenset[_Literal]]:
    """The body as a disjunction of conjunctions, those left out that another one covers."""
    if isinstance(body, ast.Negation):
        return _alternatives(body.body, not negated)
    if not isinstance(body, ast.Conjunction | ast.Disjunction):
        return [frozenset({(negated, body)})]
    parts = [_alternatives(item, negated) for item in body.items]
    if isinstance(body, ast.Disjunction) != negated:
        return _uncovered([clause for part in parts for clause in part])
    product: list[frozenset[_Literal]] = [frozenset()]
    for part in parts:
        product = _uncovered([left | right for left in product for right in part])
    return product


def _uncovered(clauses: list[frozenset[_Literal]]) -> list[frozenset[_Literal]]:
    kept: list[frozenset[_Literal]] = []
    for clause in clauses:
        if not any(other <= clause for other in kept):
            kept = [other for other in kept if not clause <= other]
            kept.append(clause)
    return kept

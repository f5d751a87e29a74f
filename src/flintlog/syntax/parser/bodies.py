"""Bodies of rules: atoms, comparisons, negation, and how they are put together."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.parser import arguments
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import END, IDENT, Token

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_FLOWLOG_BOOLEANS = {"True": True, "False": False}


def parse_body(cursor: Cursor) -> ast.Body:
    """`a, b ; c`: alternatives of conjunctions."""
    start = cursor.token
    items = [_conjunction(cursor)]
    while cursor.accept(";"):
        items.append(_conjunction(cursor))
    return items[0] if len(items) == 1 else ast.Disjunction(tuple(items), span=cursor.since(start))


def _conjunction(cursor: Cursor) -> ast.Body:
    start = cursor.token
    items = [_term(cursor)]
    while cursor.accept(","):
        items.append(_term(cursor))
    return items[0] if len(items) == 1 else ast.Conjunction(tuple(items), span=cursor.since(start))


def parse_atom(cursor: Cursor) -> ast.Atom:
    """`name(a, b)`"""
    start = cursor.token
    name, name_span = cursor.qualified_name("a relation")
    cursor.expect("(", f"after the relation `{name}`")
    return ast.Atom(name, arguments.parse_arguments(cursor, ")"), name_span, span=cursor.since(start))


def _term(cursor: Cursor) -> ast.Body:
    kind = cursor.kind
    if kind == IDENT:
        following = cursor.peek()
        if (following.kind == "(" and not _is_call(cursor)) or (following.kind == "." and _is_qualified_atom(cursor)):
            return parse_atom(cursor)
        if cursor.token.text in _FLOWLOG_BOOLEANS and not _continues_argument(following):
            token = cursor.advance()
            return ast.BoolLit(_FLOWLOG_BOOLEANS[token.text], span=token.span)
        return _comparison(cursor)
    start = cursor.token
    if kind == "!":
        cursor.advance()
        return ast.Negation(_term(cursor), span=cursor.since(start))
    if kind == "(" and not _operator_follows(cursor, cursor.index):
        cursor.advance()
        body = parse_body(cursor)
        cursor.expect(")", "after a condition in parentheses")
        return body
    if kind in ("true", "false"):
        cursor.advance()
        return ast.BoolLit(kind == "true", span=start.span)
    if kind in ("match", "contains"):
        return _predicate(cursor)
    return _comparison(cursor)


def _is_qualified_atom(cursor: Cursor) -> bool:
    """Whether `a.b.c(` begins here. A dot with a gap after it rather ends a rule whose atom lacks its parentheses."""
    distance = 1
    while cursor.peek(distance).kind == "." and cursor.peek(distance + 1).kind == IDENT:
        if cursor.peek(distance + 1).has_gap_after(cursor.peek(distance)):
            return False
        distance += 2
    return distance > 1 and cursor.peek(distance).kind == "("


def _is_call(cursor: Cursor) -> bool:
    """Whether the name before a parenthesis is a functor's, which a comparison follows, and no relation's."""
    return cursor.token.text in arguments.CALLABLE_NAMES and _operator_follows(cursor, cursor.index + 1)


def _operator_follows(cursor: Cursor, index: int) -> bool:
    """Whether an operator stands after the parentheses that open at `index`: then `(x + 1) * 2 = y` is meant, and no
    condition in parentheses."""
    depth = 0
    while True:
        kind = cursor.tokens[index].kind
        if kind == END or (kind == "." and cursor.tokens[index + 1].has_gap_after(cursor.tokens[index])):
            return False
        depth += 1 if kind == "(" else -1 if kind == ")" else 0
        index += 1
        if depth == 0:
            return _continues_argument(cursor.tokens[index])


def _continues_argument(token: Token) -> bool:
    return token.kind in _COMPARISONS or token.kind in arguments.BINARY_OPERATORS


def _comparison(cursor: Cursor) -> ast.Body:
    start = cursor.token
    if start.kind not in arguments.FIRST_KINDS:
        cursor.unexpected("an atom or a comparison")
    left = arguments.parse_argument(cursor)
    operator = cursor.kind
    if operator not in _COMPARISONS:
        cursor.unexpected("a comparison such as `=` or `<` after an argument", note=_note_on_word(cursor, start))
    cursor.advance()
    right = arguments.parse_argument(cursor)
    if cursor.kind in _COMPARISONS:
        note = "write two comparisons with a `,` between them"
        cursor.unexpected("`,` or `.` after a comparison", note=note)
    return ast.Constraint(operator, left, right, span=cursor.since(start))


def _note_on_word(cursor: Cursor, start: Token) -> str | None:
    if start.text == "not" and start is cursor.previous:
        return "negation is written `!`"
    if start.kind == IDENT and start is cursor.previous and cursor.kind in (",", ".", ";", "}", ")"):
        return f"a relation without arguments is written `{start.text}()`"
    return None


def _predicate(cursor: Cursor) -> ast.Body:
    start = cursor.advance()
    cursor.expect("(", f"after `{start.text}`")
    left = arguments.parse_argument(cursor)
    cursor.expect(",", f"after the first argument of `{start.text}`")
    right = arguments.parse_argument(cursor)
    cursor.expect(")", f"after the second argument of `{start.text}`")
    return ast.Constraint(start.text, left, right, span=cursor.since(start))

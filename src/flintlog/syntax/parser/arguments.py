"""Arguments: constants, variables, functors and the arithmetic between them."""

from __future__ import annotations

from collections.abc import Callable

from flintlog.syntax import ast
from flintlog.syntax.literals import string_value
from flintlog.syntax.parser import aggregates
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import (
    AGGREGATES,
    END,
    FLOAT,
    FUNCTORS,
    IDENT,
    ITERATION_WORDS,
    LEGACY_CONVERSIONS,
    NUMBER,
    STRING,
    UNSIGNED,
    Token,
)

# How tightly an operator binds. `cat` between two arguments is FlowLog's.
_LEFT_ASSOCIATIVE = {
    "lor": 1,
    "lxor": 2,
    "land": 3,
    "bor": 4,
    "bxor": 5,
    "band": 6,
    "bshl": 7,
    "bshr": 7,
    "bshru": 7,
    "+": 8,
    "-": 8,
    "cat": 8,
    "*": 9,
    "/": 9,
    "%": 9,
}
_UNARY_BINDING, _POWER_BINDING = 10, 11
_BINDING = _LEFT_ASSOCIATIVE | {"^": _POWER_BINDING}
_UNARY = {"-": "neg", "bnot": "bnot", "lnot": "lnot"}
BINARY_OPERATORS = frozenset(_BINDING)

_HEAD_AGGREGATES = {"COUNT": "count", "SUM": "sum", "MIN": "min", "MAX": "max", "AVG": "mean"}
CALLABLE_NAMES = LEGACY_CONVERSIONS | ITERATION_WORDS | frozenset(_HEAD_AGGREGATES)


def parse_argument(cursor: Cursor, least: int = 0) -> ast.Argument:
    """An argument whose operators bind tighter than `least`."""
    return continue_argument(cursor, cursor.token, _operand(cursor), least)


def continue_argument(cursor: Cursor, start: Token, left: ast.Argument, least: int = 0) -> ast.Argument:
    """The argument whose first operand, beginning at `start`, has been read already."""
    while True:
        operator = cursor.kind
        binding = _BINDING.get(operator, 0)
        if binding <= least:
            return left
        cursor.advance()
        right = parse_argument(cursor, binding - 1 if operator == "^" else binding)
        left = ast.Functor(operator, (left, right), span=cursor.since(start))


def parse_arguments(cursor: Cursor, closing: str) -> tuple[ast.Argument, ...]:
    """Arguments with commas between them, up to and including the closing bracket."""
    if cursor.accept(closing):
        return ()
    arguments = [parse_argument(cursor)]
    while cursor.accept(","):
        arguments.append(parse_argument(cursor))
    if cursor.kind != closing:
        cursor.unexpected(f"`,` or `{closing}` after an argument", note=_note_on_call(cursor))
    cursor.advance()
    return tuple(arguments)


def _note_on_call(cursor: Cursor) -> str | None:
    if cursor.kind == "(" and cursor.previous.kind == IDENT:
        name = cursor.previous.text
        branch = _branch_call(cursor)
        if branch is not None:
            return f"`{name}` is a branch of a type: write `{branch}`"
        return f"a functor of your own is called `@{name}(...)`; if `{name}` is a relation, a `)` is missing before it"
    if cursor.kind in ("<", ">", "<=", ">=", "!=", "="):
        return "a comparison cannot be an argument; it stands in the body of a rule"
    return None


def _branch_call(cursor: Cursor) -> str | None:
    """`Num(3)`, of which `Num` has been read, as it should be written if a type of the program has such a branch."""
    name = cursor.previous
    if not any(
        before.kind in ("=", "|") and here.text == name.text and after.kind == "{"
        for before, here, after in zip(cursor.tokens, cursor.tokens[1:], cursor.tokens[2:], strict=False)
    ):
        return None
    index, depth = cursor.index, 0
    while depth or index == cursor.index:
        kind = cursor.tokens[index].kind
        if kind == END:
            return f"${name.text}(…)"
        depth += 1 if kind == "(" else -1 if kind == ")" else 0
        index += 1
    return "$" + name.span.to(cursor.tokens[index - 1].span).text


def _operand(cursor: Cursor) -> ast.Argument:
    token = cursor.token
    kind = token.kind
    if kind == IDENT:
        cursor.advance()
        return _named(cursor, token) if cursor.kind == "(" else ast.Variable(token.text, span=token.span)
    if kind in AGGREGATES:
        return aggregates.parse_aggregate(cursor)
    if kind in FUNCTORS:
        cursor.advance()
        cursor.expect("(", f"after `{kind}`")
        return ast.Functor(kind, parse_arguments(cursor, ")"), span=cursor.since(token))
    reader = _OPERANDS.get(kind)
    if reader is None:
        if kind == "." and cursor.peek().kind in (NUMBER, FLOAT) and not cursor.peek().has_gap_after(token):
            return _number_without_digits(cursor, token, f"0.{cursor.peek().text}")
        cursor.unexpected("an argument")
    cursor.advance()
    return reader(cursor, token)


def _named(cursor: Cursor, token: Token) -> ast.Argument:
    """What an identifier before a parenthesis means, where it means anything; else the identifier alone."""
    name = token.text
    if name in LEGACY_CONVERSIONS:
        cursor.advance()
        return ast.Functor(name, parse_arguments(cursor, ")"), span=cursor.since(token))
    if name in ITERATION_WORDS:
        cursor.advance()
        cursor.expect(")", f"after `{name}(`")
        return ast.Iteration(span=cursor.since(token))
    if name in _HEAD_AGGREGATES:
        cursor.advance()
        argument = parse_argument(cursor)
        cursor.expect(")", f"after the argument of `{name}`")
        return ast.HeadAggregate(_HEAD_AGGREGATES[name], argument, span=cursor.since(token))
    return ast.Variable(name, span=token.span)


def _number(cursor: Cursor, token: Token) -> ast.Argument:
    if cursor.kind == "." and cursor.peek().kind in _AFTER_NUMBERS and not cursor.token.has_gap_after(token):
        return _number_without_digits(cursor, token, f"{token.text}.0")
    return ast.NumberLit(token.text, span=token.span)


# After a number and a dot, these show that the dot does not end the rule.
_AFTER_NUMBERS = frozenset({")", "]", ","}) | BINARY_OPERATORS


def _number_without_digits(cursor: Cursor, start: Token, meant: str) -> ast.Argument:
    """`.5` or `1.`, of which the last token is the current one or the one after `start`."""
    cursor.advance()
    if cursor.previous is start:
        cursor.advance()
    span = cursor.since(start)
    note = f"a float has digits on both sides of its dot: write `{meant}`"
    cursor.report.error("E105", f"`{span.text}` is not a number", span, note=note)
    return ast.NumberLit(meant, "float", span=span)


def _unsigned(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.NumberLit(token.text[:-1], "unsigned", span=token.span)


def _float(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.NumberLit(token.text, "float", span=token.span)


def _string(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.StringLit(string_value(token, cursor.report), span=token.span)


def _underscore(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.Unnamed(span=token.span)


def _nil(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.Nil(span=token.span)


def _record(cursor: Cursor, token: Token) -> ast.Argument:
    return ast.RecordInit(parse_arguments(cursor, "]"), span=cursor.since(token))


def _parenthesised(cursor: Cursor, token: Token) -> ast.Argument:
    argument = parse_argument(cursor)
    cursor.expect(")", "after an argument in parentheses")
    return argument


def _unary(cursor: Cursor, token: Token) -> ast.Argument:
    argument = parse_argument(cursor, _UNARY_BINDING)
    if token.kind == "-" and isinstance(argument, ast.NumberLit) and not argument.text.startswith("-"):
        return ast.NumberLit("-" + argument.text, argument.fixed, span=cursor.since(token))
    return ast.Functor(_UNARY[token.kind], (argument,), span=cursor.since(token))


def _cast(cursor: Cursor, token: Token) -> ast.Argument:
    cursor.expect("(", "after `as`")
    argument = parse_argument(cursor)
    cursor.expect(",", "and a type after the argument of `as`")
    type_name, _ = cursor.qualified_name("a type")
    cursor.expect(")", "after the type")
    return ast.Cast(argument, type_name, span=cursor.since(token))


def _autoinc(cursor: Cursor, token: Token) -> ast.Argument:
    cursor.expect("(", "after `autoinc`")
    cursor.expect(")", "after `autoinc(`")
    return ast.Counter(span=cursor.since(token))


def _dollar(cursor: Cursor, token: Token) -> ast.Argument:
    """`$Branch(...)`, or `$` alone for a counter."""
    if cursor.kind != IDENT:
        note = "write `autoinc()`"
        cursor.report.warning("W103", "`$` for a counter is an old form", token.span, note=note)
        return ast.Counter(span=token.span)
    parts = [cursor.advance()]
    # A dot after a branch without arguments may also end the rule: only names without a gap belong together.
    while cursor.kind == "." and cursor.peek().kind == IDENT and not cursor.peek().has_gap_after(cursor.token):
        cursor.advance()
        parts.append(cursor.advance())
    branch = ".".join(part.text for part in parts)
    arguments = parse_arguments(cursor, ")") if cursor.accept("(") else ()
    return ast.BranchInit(branch, arguments, span=cursor.since(token))


def _at(cursor: Cursor, token: Token) -> ast.Argument:
    if cursor.kind == "@":
        return aggregates.parse_user_aggregate(cursor, token)
    name = cursor.name("a functor")
    cursor.expect("(", f"after `@{name.text}`")
    return ast.UserFunctor(name.text, parse_arguments(cursor, ")"), span=cursor.since(token))


_OPERANDS: dict[str, Callable[[Cursor, Token], ast.Argument]] = {
    NUMBER: _number,
    UNSIGNED: _unsigned,
    FLOAT: _float,
    STRING: _string,
    "_": _underscore,
    "nil": _nil,
    "[": _record,
    "(": _parenthesised,
    "-": _unary,
    "bnot": _unary,
    "lnot": _unary,
    "as": _cast,
    "autoinc": _autoinc,
    "$": _dollar,
    "@": _at,
}

# The kinds of token that an argument can begin with.
FIRST_KINDS = frozenset(_OPERANDS) | AGGREGATES | FUNCTORS | {IDENT}

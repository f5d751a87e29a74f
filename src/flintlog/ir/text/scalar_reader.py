"""Reads scalar expressions, conditions and row values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from flintlog.diagnostics import did_you_mean
from flintlog.ir.scalar import (
    OPPOSITE,
    Call,
    Column,
    Compare,
    Condition,
    Const,
    Counter,
    IsBranch,
    IsRecord,
    MakeBranch,
    MakeRecord,
    Never,
    Part,
    Reinterpret,
    Round,
    Scalar,
    UserCall,
)
from flintlog.ir.text.cursor import Cursor, fail
from flintlog.ir.text.scalar_printer import implied_kind
from flintlog.ir.text.spelling import INFIX
from flintlog.ir.text.tokens import Token
from flintlog.types import Adt, Kind, Value

# The columns an expression may name; a reference takes its kind from here.
Scope: TypeAlias = Mapping[str, Kind]


def read_scalar(cursor: Cursor, scope: Scope) -> Scalar:
    token = cursor.token
    if token.form == "constant":
        cursor.advance()
        return Const(token.value, token.kind)
    if cursor.at_name():
        cursor.advance()
        return _read_form(cursor, token, scope) if cursor.at("(") else read_column(token, scope)
    if cursor.at("("):
        return _read_infix(cursor, scope)
    if cursor.at("["):
        return MakeRecord(cursor.enclosed("[", lambda: read_scalar(cursor, scope), "]"))
    if cursor.accept("$"):
        return MakeBranch(cursor.name(), _read_args(cursor, scope))
    if cursor.accept("@"):
        return UserCall(cursor.name(), _read_args(cursor, scope), _read_kind(cursor))
    return cursor.unexpected("an expression")


def read_column(token: Token, scope: Scope) -> Column:
    """The column a name refers to."""
    if token.text not in scope:
        note = did_you_mean(token.text, scope) or f"in scope: {', '.join(scope) or 'nothing'}"
        fail("E954", f"no column `{token.text}` is in scope", token.span, note)
    return Column(token.text, scope[token.text])


def _read_form(cursor: Cursor, word: Token, scope: Scope) -> Scalar:
    """What follows a name and has parentheses."""
    match word.text if word.form == "name" else None:
        case "part":
            cursor.expect("(")
            arg = read_scalar(cursor, scope)
            cursor.expect(",")
            index = cursor.integer()
            cursor.expect(")")
            return Part(arg, index, _read_kind(cursor))
        case "as":
            cursor.expect("(")
            arg = read_scalar(cursor, scope)
            cursor.expect(")")
            return Reinterpret(arg, _read_kind(cursor))
        case "autoinc" | "round":
            cursor.expect("(")
            cursor.expect(")")
            return Counter() if word.text == "autoinc" else Round()
        case _:
            return _call(cursor, word, _read_args(cursor, scope))


def _read_infix(cursor: Cursor, scope: Scope) -> Call:
    cursor.expect("(")
    left = read_scalar(cursor, scope)
    if not cursor.at(*INFIX):
        cursor.unexpected("an operator")
    operator = cursor.advance()
    right = read_scalar(cursor, scope)
    cursor.expect(")")
    return _call(cursor, operator, (left, right))


def _call(cursor: Cursor, operator: Token, args: tuple[Scalar, ...]) -> Call:
    kind = _read_kind(cursor) if cursor.at(":") else implied_kind(operator.text, args)
    if kind is None:
        note = f"write it after the call: `{operator.text}(): number`"
        fail("E955", f"the kind of `{operator.text}()` is unknown", operator.span, note)
    return Call(operator.text, args, kind)


def _read_args(cursor: Cursor, scope: Scope) -> tuple[Scalar, ...]:
    return cursor.enclosed("(", lambda: read_scalar(cursor, scope), ")")


def _read_kind(cursor: Cursor) -> Kind:
    cursor.expect(":")
    return cursor.kind()


def read_condition(cursor: Cursor, scope: Scope) -> Condition:
    if cursor.accept("never"):
        return Never()
    cursor.expect("(")
    left = read_scalar(cursor, scope)
    condition: Condition
    if cursor.accept("is"):
        if cursor.accept("record"):
            condition = IsRecord(left)
        else:
            cursor.expect("$")
            condition = IsBranch(left, cursor.name())
    elif cursor.at(*OPPOSITE):
        condition = Compare(cursor.advance().text, left, read_scalar(cursor, scope))
    else:
        cursor.unexpected("a comparison")
    cursor.expect(")")
    return condition


def read_value(cursor: Cursor) -> Value:
    """A value of a row: a constant, `[1, 2]` or `$Branch(1)`."""
    if cursor.at("["):
        return cursor.enclosed("[", lambda: read_value(cursor), "]")
    if cursor.accept("$"):
        return Adt(cursor.name(), cursor.enclosed("(", lambda: read_value(cursor), ")"))
    if cursor.token.form != "constant":
        cursor.unexpected("a value")
    return cursor.advance().value

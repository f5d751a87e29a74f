"""Prints scalar expressions and conditions, fully parenthesised."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.ir.operations import result_kind
from flintlog.ir.scalar import (
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
from flintlog.ir.text.spelling import INFIX, SPECIAL_FORMS, spell_constant, spell_name
from flintlog.types import Kind


def print_scalar(scalar: Scalar) -> str:
    """The text of an expression.

    >>> print_scalar(Call("+", (Column("x", Kind.NUMBER), Const(1, Kind.NUMBER)), Kind.NUMBER))
    '(x + 1)'
    """
    match scalar:
        case Column(name, _):
            return spell_name(name)
        case Const(value, kind):
            return spell_constant(value, kind)
        case Call():
            return _print_call(scalar)
        case UserCall(name, args, kind):
            return f"@{spell_name(name)}({_commas(args)}): {kind.value}"
        case MakeRecord(args):
            return f"[{_commas(args)}]"
        case MakeBranch(branch, args):
            return f"${spell_name(branch)}({_commas(args)})"
        case Part(arg, index, kind):
            return f"part({print_scalar(arg)}, {index}): {kind.value}"
        case Reinterpret(arg, kind):
            return f"as({print_scalar(arg)}): {kind.value}"
        case Counter():
            return "autoinc()"
        case Round():
            return "round()"


def _print_call(call: Call) -> str:
    if call.op in INFIX and len(call.args) == 2:
        text = f"({print_scalar(call.args[0])} {call.op} {print_scalar(call.args[1])})"
    else:
        text = f"{spell_name(call.op, SPECIAL_FORMS)}({_commas(call.args)})"
    # The kind follows from the arguments; it is written where it does not, which is a mistake `verify` reports.
    return text if call.kind is implied_kind(call.op, call.args) else f"{text}: {call.kind.value}"


def implied_kind(op: str, args: Sequence[Scalar]) -> Kind | None:
    """The kind an operation has by its arguments, None if it takes arguments to know and there are none."""
    try:
        return result_kind(op, tuple(arg.kind for arg in args))
    except IndexError:
        return None


def _commas(args: Sequence[Scalar]) -> str:
    return ", ".join(map(print_scalar, args))


def print_condition(condition: Condition) -> str:
    """The text of a condition.

    >>> print_condition(IsBranch(Column("t", Kind.ADT), "Leaf"))
    '(t is $Leaf)'
    """
    match condition:
        case Compare(op, left, right):
            return f"({print_scalar(left)} {op} {print_scalar(right)})"
        case IsRecord(arg):
            return f"({print_scalar(arg)} is record)"
        case IsBranch(arg, branch):
            return f"({print_scalar(arg)} is ${spell_name(branch)})"
        case Never():
            return "never"

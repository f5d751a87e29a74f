"""Computes expressions and conditions over constants, as the program would when it runs."""

from __future__ import annotations

import math
from typing import Any

from flintlog.ir.operations import EvaluationError, compare, implement
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.scalar import (
    Call,
    Column,
    Compare,
    Condition,
    Const,
    IsBranch,
    IsRecord,
    MakeBranch,
    MakeRecord,
    Never,
    Part,
    Reinterpret,
    Scalar,
)
from flintlog.ir.words import Words
from flintlog.types import Kind


class Odd(Exception):
    """What is computed would be worth a warning at run time, so it is left for then."""


def _odd(message: str) -> None:
    raise Odd(message)


def fold_one(scalar: Scalar, words: Words) -> Scalar:
    """The expression's value, if its operands are constants and it has one.

    >>> one, two = Const(1, Kind.NUMBER), Const(2, Kind.NUMBER)
    >>> fold_one(Call("+", (one, two), Kind.NUMBER), Words(64))
    Const(value=3, kind=Kind.NUMBER)
    """
    match scalar:
        case Call(op, args, kind) if op != "ord" and all(isinstance(arg, Const) for arg in args):
            value = _computed(op, args, words)
            return scalar if value is None else Const(value, kind)
        case Part(MakeRecord(args) | MakeBranch(args=args), index, _) if not any(map(may_fail, args)):
            return args[index]
        case Reinterpret(arg, kind) if arg.kind is kind:
            return arg
        case _:
            return scalar


def _computed(op: str, args: tuple[Scalar, ...], words: Words) -> Any:
    """The operation's value; None if it has none, or one that must be seen to happen at run time."""
    values = [arg.value for arg in args if isinstance(arg, Const)]
    try:
        value = implement(op, tuple(arg.kind for arg in args), words, _odd)(*values)
    except (EvaluationError, Odd):
        return None
    # A NaN is the same as itself only while it stays the same object.
    return None if isinstance(value, float) and math.isnan(value) else value


def truth(condition: Condition) -> bool | None:
    """Whether a condition, its expressions folded, holds for every row or for none; None if that depends on the row."""
    match condition:
        case Never():
            return False
        case Compare(op, Const(left, kind), Const(right, _)):
            try:
                return compare(op, kind, _odd)(left, right)
            except Odd:
                return None
        case Compare("=" | "!=" as op, Column(name, kind), Column(other, _)) if name == other:
            # A NaN differs from itself.
            return None if kind is Kind.FLOAT else op == "="
        case IsRecord(Const(value, _)):
            return value is not None
        case IsRecord(MakeRecord(args)) if not any(map(may_fail, args)):
            return True
        case IsBranch(MakeBranch(branch, args), wanted) if not any(map(may_fail, args)):
            return branch == wanted
        case _:
            return None

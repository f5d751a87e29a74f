"""Expressions that have no value for some operands: where one stands decides whether a program ends with an error."""

from __future__ import annotations

from flintlog.ir.scalar import Call, Condition, Const, Reinterpret, Scalar, UserCall
from flintlog.ir.visit import walk_scalar
from flintlog.types import Kind


def may_fail(term: Scalar | Condition) -> bool:
    """Whether evaluating a term may end the program: a division by what may be zero, a text that may be no number, a
    user's function, a number that may stand for no symbol."""
    return any(_may_fail(scalar) for scalar in walk_scalar(term))


def _may_fail(scalar: Scalar) -> bool:
    match scalar:
        case Call("/" | "%", (_, divisor), kind):
            return kind is not Kind.FLOAT and not (isinstance(divisor, Const) and divisor.value != 0)
        case Call("to_number" | "to_unsigned" | "to_float", (text,), _):
            return text.kind is Kind.SYMBOL
        case UserCall():
            return True
        case Reinterpret(arg, kind):
            return not kind.is_numeric and kind is not arg.kind
        case _:
            return False

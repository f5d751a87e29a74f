"""What can be wrong with expressions and conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flintlog.ir.program import UserFunction
from flintlog.ir.scalar import (
    OPPOSITE,
    Call,
    Column,
    Compare,
    Condition,
    Const,
    IsBranch,
    IsRecord,
    Never,
    Part,
    Scalar,
    UserCall,
)
from flintlog.ir.text.scalar_printer import implied_kind, print_condition, print_scalar
from flintlog.ir.visit import operands, walk_scalar
from flintlog.types import Adt, Kind, Value

Scope = Mapping[str, Kind]
Functions = Mapping[str, UserFunction]


def scalar_problems(scalar: Scalar, scope: Scope, functions: Functions) -> Iterator[str]:
    """Columns out of scope, constants that do not fit their kind, operations whose kind does not follow."""
    for part in walk_scalar(scalar):
        yield from _own_problems(part, scope, functions)


def _own_problems(scalar: Scalar, scope: Scope, functions: Functions) -> Iterator[str]:
    match scalar:
        case Column(name, kind):
            if name not in scope:
                yield f"column `{name}` is not in scope, which has {_listed(scope)}"
            elif scope[name] is not kind:
                yield f"column `{name}` is read as {kind.value}, but it is {scope[name].value}"
        case Const(value, kind):
            if isinstance(value, tuple) or not value_fits(value, kind):
                yield f"{value!r} is no constant of kind {kind.value}"
        case Call(op, args, kind):
            implied = implied_kind(op, args)
            if implied is not kind:
                follows = implied.value if implied else "unknown"
                yield f"`{print_scalar(scalar)}` is marked {kind.value}, but its kind is {follows}"
        case UserCall(name, args, kind):
            yield from function_problems(name, [arg.kind for arg in args], kind, functions)
        case Part(arg, index, _):
            if arg.kind not in (Kind.RECORD, Kind.ADT) or index < 0:
                yield f"`{print_scalar(scalar)}` takes a part of a {arg.kind.value}"
        case _:
            pass


def function_problems(name: str, params: Iterable[Kind], result: Kind, functions: Functions) -> Iterator[str]:
    """Calls that do not agree with the user's declaration."""
    function = functions.get(name)
    if function is None:
        yield f"function `@{name}` is unknown"
    elif function.params != tuple(params) or function.result is not result:
        yield f"the call of `@{name}` does not have the kinds of its declaration"


def value_fits(value: Value, kind: Kind) -> bool:
    """Whether a value looks as values of this kind do; parts of records and branches count as right."""
    match kind:
        case Kind.NUMBER:
            return type(value) is int
        case Kind.UNSIGNED:
            return type(value) is int and value >= 0
        case Kind.FLOAT:
            return isinstance(value, float)
        case Kind.SYMBOL:
            return isinstance(value, str)
        case Kind.RECORD:
            return value is None or (isinstance(value, tuple) and not isinstance(value, Adt))
        case Kind.ADT:
            return isinstance(value, Adt)


def condition_problems(condition: Condition, scope: Scope, functions: Functions) -> Iterator[str]:
    """Problems of the expressions, and tests that do not suit the kinds of what they test."""
    for operand in operands(condition):
        yield from scalar_problems(operand, scope, functions)
    match condition:
        case Compare(op, left, right):
            if op not in OPPOSITE:
                yield f"`{op}` is no comparison"
            elif left.kind is not right.kind:
                yield f"`{print_condition(condition)}` compares {left.kind.value} with {right.kind.value}"
            elif op.isidentifier() and left.kind is not Kind.SYMBOL:
                yield f"`{print_condition(condition)}` compares {left.kind.value} as if it were symbol"
        case IsRecord(arg):
            if arg.kind is not Kind.RECORD:
                yield f"`{print_condition(condition)}` tests a {arg.kind.value}"
        case IsBranch(arg, _):
            if arg.kind is not Kind.ADT:
                yield f"`{print_condition(condition)}` tests a {arg.kind.value}"
        case Never():
            pass


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "no columns"

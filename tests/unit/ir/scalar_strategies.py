"""Hypothesis strategies for well-formed expressions and conditions.

Column names come from a pool for each kind, so that two trees with a column in common agree on its kind.
"""

from __future__ import annotations

import math

from hypothesis import strategies as st

from flintlog.ir.nodes import Schema
from flintlog.ir.operations import result_kind
from flintlog.ir.program import UserFunction
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
from flintlog.types import Adt, Kind, Value

POOLS: dict[Kind, tuple[str, ...]] = {
    Kind.NUMBER: ("x", "y", "z", "$3", "x$3", "a.b", "n7", "n8"),
    Kind.UNSIGNED: ("u", "?v", "part", "band", "u5", "u6", "u7", "u8"),
    Kind.FLOAT: ("f", "inf", "1.5", "f4", "f5", "f6", "f7", "f8"),
    Kind.SYMBOL: ("s", "_", "two words", "back`tick\\", "s5", "s6", "s7", "s8"),
    Kind.RECORD: ("r", "nil", "line\nbreak", "r4", "r5", "r6", "r7", "r8"),
    Kind.ADT: ("t", "é", "", "t4", "t5", "t6", "t7", "t8"),
}

FUNCTIONS = {
    f.name: f
    for f in (
        UserFunction("half", (Kind.NUMBER,), Kind.NUMBER),
        UserFunction("plus", (Kind.FLOAT, Kind.FLOAT), Kind.FLOAT),
        UserFunction("glue it", (Kind.SYMBOL, Kind.SYMBOL), Kind.SYMBOL, stateful=True),
        UserFunction("now", (), Kind.UNSIGNED),
    )
}

NUMERIC = (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT)
CONVERSIONS = {
    "to_string": NUMERIC,
    "strlen": (Kind.SYMBOL,),
    "ord": (Kind.SYMBOL,),
    **dict.fromkeys(("to_number", "to_unsigned", "to_float"), (*NUMERIC, Kind.SYMBOL)),
}
ARITHMETIC = ("+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "land", "lor", "lxor")

kinds = st.sampled_from(list(Kind))
texts = st.text(st.characters(exclude_categories=()), max_size=6)
names = st.sampled_from(("edge", "path", "comp.rel", "recursive", "limit", "int8", "$7", "+delta")) | texts


# --- Values and expressions -----------------------------------------------------------------------


def values(kind: Kind, depth: int = 2) -> st.SearchStrategy[Value]:
    match kind:
        case Kind.NUMBER:
            return st.integers(-(2**63), 2**63 - 1)
        case Kind.UNSIGNED:
            return st.integers(0, 2**64 - 1)
        case Kind.FLOAT:
            return st.floats().map(lambda value: math.nan if math.isnan(value) else value)
        case Kind.SYMBOL:
            return texts
        case Kind.RECORD:
            return st.none() | _value_tuples(depth)
        case Kind.ADT:
            return st.builds(Adt, names, _value_tuples(depth))


def _value_tuples(depth: int) -> st.SearchStrategy[tuple[Value, ...]]:
    if depth == 0:
        return st.just(())
    return st.lists(kinds.flatmap(lambda kind: values(kind, depth - 1)), max_size=2).map(tuple)


@st.composite
def scalars(draw: st.DrawFn, kind: Kind, scope: Schema = (), depth: int = 2) -> Scalar:
    """An expression of the kind over the columns in scope."""
    readable = [column for column in scope if column.kind is kind]
    if draw(st.booleans()) and readable:
        column: Column = draw(st.sampled_from(readable))
        return column
    if depth == 0 or draw(st.booleans()):
        return draw(_leaves(kind))
    return draw(st.sampled_from(_COMPOUNDS[kind]).flatmap(lambda make: make(kind, scope, depth - 1)))


def _leaves(kind: Kind) -> st.SearchStrategy[Scalar]:
    match kind:
        case Kind.RECORD:
            return st.sampled_from([Const(None, kind), MakeRecord(())])
        case Kind.ADT:
            return st.builds(MakeBranch, names, st.just(()))
        case Kind.NUMBER:
            return st.just(Counter()) | st.builds(Const, values(kind), st.just(kind))
        case Kind.UNSIGNED:
            return st.just(Round()) | st.builds(Const, values(kind), st.just(kind))
        case _:
            return st.builds(Const, values(kind), st.just(kind))


@st.composite
def _arithmetic(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    op = draw(st.sampled_from((*ARITHMETIC, "neg", "bnot", "lnot", "min", "max")))
    count = 1 if op in ("neg", "bnot", "lnot") else 3 if op == "max" else 2
    return Call(op, tuple(draw(scalars(kind, scope, depth)) for _ in range(count)), kind)


@st.composite
def _conversion(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    op = draw(st.sampled_from([op for op in CONVERSIONS if result_kind(op, ()) is kind]))
    source = draw(st.sampled_from(CONVERSIONS[op]))
    return Call(op, (draw(scalars(source, scope, depth)),), kind)


@st.composite
def _text_operation(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    op, params = draw(st.sampled_from((("cat", "sss"), ("cat", "ss"), ("substr", "snn"))))
    signature = [Kind.SYMBOL if param == "s" else Kind.NUMBER for param in params]
    return Call(op, tuple(draw(scalars(param, scope, depth)) for param in signature), kind)


@st.composite
def _user_call(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    function = draw(st.sampled_from([f for f in FUNCTIONS.values() if f.result is kind]))
    return UserCall(function.name, tuple(draw(scalars(param, scope, depth)) for param in function.params), kind)


@st.composite
def _part(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    whole = draw(st.sampled_from((Kind.RECORD, Kind.ADT)))
    return Part(draw(scalars(whole, scope, depth)), draw(st.integers(0, 3)), kind)


@st.composite
def _reinterpret(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    return Reinterpret(draw(scalars(draw(kinds), scope, depth)), kind)


@st.composite
def _construction(draw: st.DrawFn, kind: Kind, scope: Schema, depth: int) -> Scalar:
    args = tuple(draw(scalars(arg, scope, depth)) for arg in draw(st.lists(kinds, max_size=3)))
    return MakeRecord(args) if kind is Kind.RECORD else MakeBranch(draw(names), args)


_ANY = (_part, _reinterpret)
_NUMBERS = (_arithmetic, _conversion, _user_call, *_ANY)
_COMPOUNDS = {
    Kind.NUMBER: _NUMBERS,
    Kind.UNSIGNED: _NUMBERS,
    Kind.FLOAT: _NUMBERS,
    Kind.SYMBOL: (_text_operation, _conversion, _user_call, *_ANY),
    Kind.RECORD: (_construction, *_ANY),
    Kind.ADT: (_construction, *_ANY),
}


@st.composite
def conditions(draw: st.DrawFn, scope: Schema = ()) -> Condition:
    form = draw(st.sampled_from((Compare, Compare, IsRecord, IsBranch, Never)))
    if form is IsRecord:
        return IsRecord(draw(scalars(Kind.RECORD, scope)))
    if form is IsBranch:
        return IsBranch(draw(scalars(Kind.ADT, scope)), draw(names))
    if form is Never:
        return Never()
    op = draw(st.sampled_from(list(OPPOSITE)))
    kind = Kind.SYMBOL if op.isidentifier() else draw(kinds)
    return Compare(op, draw(scalars(kind, scope)), draw(scalars(kind, scope)))

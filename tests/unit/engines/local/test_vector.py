"""Batches have the values that the closures of the reference engine give row by row: every operator, every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy
from tests.unit.engines.local.arrays import for_all, words

from flintlog.engines.local.vector import Vectors
from flintlog.engines.reference.closures import Machine
from flintlog.ir.operations import EvaluationError, result_kind
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
from flintlog.ir.words import Words
from flintlog.types import NAN, NEGATIVE_NAN, Adt, Kind

NUMBER, UNSIGNED, FLOAT, SYMBOL, RECORD, ADT = Kind
NAMES = "xyz"
INTEGER_OPS = "+ - * / % ^ band bor bxor bshl bshr bshru land lor lxor min max".split()


def values(kind: Kind, size: int) -> SearchStrategy[Any]:
    half = 1 << (size - 1)
    small = st.integers(0, 4)
    match kind:
        case Kind.NUMBER:
            return st.one_of(small, small.map(lambda n: -n), st.integers(-half, half - 1), st.just(-half))
        case Kind.UNSIGNED:
            return st.one_of(small, st.integers(0, 2 * half - 1), st.sampled_from([half - 1, half, 2 * half - 1]))
        case Kind.FLOAT:
            # Of the many patterns of NaN only these two ever come into being.
            usual = st.sampled_from([0.0, -0.0, 1.0, 0.5, NAN, NEGATIVE_NAN])
            return st.one_of(usual, st.floats(width=32 if size == 32 else 64, allow_nan=False))
        case Kind.SYMBOL:
            return st.sampled_from(["", "a", "ab", "b", "12", "-3", "1.5", "ä", "a.*"])
        case Kind.RECORD:
            return st.one_of(st.none(), st.tuples(small, small))
        case Kind.ADT:
            return st.builds(lambda branch, n: Adt(branch, (n,)), st.sampled_from(["A", "B"]), small)


def machine(size: int) -> Machine:
    return Machine(Words(size), {"twice": lambda n: n * 2 if n < 10 else n}, lambda message, span: None)


def check(term: Scalar | Condition, kinds: tuple[Kind, ...], data: DataObject, size: int) -> None:
    """The vector of the term over random columns x, y, z of these kinds has what the closure gives for each row."""
    computer = machine(size)
    rows = data.draw(st.lists(st.tuples(*(values(kind, size) for kind in kinds)), min_size=1, max_size=12))
    columns = [[computer.word(row[i], kind) for row in rows] for i, kind in enumerate(kinds)]
    batch = {name: words(column) for name, column in zip(NAMES, columns, strict=False)}
    lists = ([computer.value(word, kind) for word in column] for column, kind in zip(columns, kinds, strict=True))
    decoded = list(zip(*lists, strict=True))
    at = {name: i for i, name in enumerate(NAMES[: len(kinds)])}
    expected: list[int] | None
    try:
        if isinstance(term, Condition):
            expected = [int(computer.condition(term, at)(row)) for row in decoded]
        else:
            expected = [computer.word(computer.scalar(term, at)(row), term.kind) for row in decoded]
    except EvaluationError:
        expected = None
    vectors = Vectors(computer)
    compute = vectors.condition(term) if isinstance(term, Condition) else vectors.scalar(term)
    if expected is None:
        with pytest.raises(EvaluationError):
            compute(batch, len(rows))
    else:
        found = np.broadcast_to(compute(batch, len(rows)), len(rows))
        assert found.tolist() == expected


def both_sizes(term: Scalar | Condition, *kinds: Kind) -> None:
    @for_all(st.data(), st.sampled_from([64, 32]), examples=12)
    def run(data: DataObject, size: int) -> None:
        check(term, kinds, data, size)

    run()


def column(name: str, kind: Kind) -> Column:
    return Column(name, kind)


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED])
@pytest.mark.parametrize("op", INTEGER_OPS)
def test_integers(op: str, kind: Kind):
    x, y = column("x", kind), column("y", kind)
    both_sizes(Call(op, (x, y), kind), kind, kind)
    constant = Const(3, kind)
    both_sizes(Call(op, (x, constant), kind), kind)
    both_sizes(Call(op, (constant, x), kind), kind)


@pytest.mark.parametrize("divisor", [1, -1, 2, -3, (1 << 31) - 1, -(1 << 31), 0])
@pytest.mark.parametrize("op", ["/", "%"])
def test_division_by_a_constant_goes_towards_zero(op: str, divisor: int):
    both_sizes(Call(op, (column("x", NUMBER), Const(divisor, NUMBER)), NUMBER), NUMBER)


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED])
@pytest.mark.parametrize("op", ["neg", "bnot", "lnot", "to_string", "to_float", "itof", "to_number", "to_unsigned"])
def test_one_integer(op: str, kind: Kind):
    both_sizes(Call(op, (column("x", kind),), result_kind(op, (kind,))), kind)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "^", "min", "max"])
def test_floats(op: str):
    both_sizes(Call(op, (column("x", FLOAT), column("y", FLOAT)), FLOAT), FLOAT, FLOAT)


@pytest.mark.parametrize("op", ["neg", "to_string", "ftoi", "ftou", "to_number"])
def test_one_float(op: str):
    both_sizes(Call(op, (column("x", FLOAT),), result_kind(op, (FLOAT,))), FLOAT)


@pytest.mark.parametrize("op", ["strlen", "ord", "to_number", "to_unsigned", "to_float"])
def test_one_symbol(op: str):
    both_sizes(Call(op, (column("x", SYMBOL),), result_kind(op, (SYMBOL,))), SYMBOL)


def test_symbols():
    x, y, z = column("x", SYMBOL), column("y", SYMBOL), column("z", SYMBOL)
    both_sizes(Call("cat", (x, y, z), SYMBOL), SYMBOL, SYMBOL, SYMBOL)
    both_sizes(Call("max", (x, y), SYMBOL), SYMBOL, SYMBOL)
    start, length = column("y", NUMBER), column("z", NUMBER)
    both_sizes(Call("substr", (x, start, length), SYMBOL), SYMBOL, NUMBER, NUMBER)


def test_expressions_in_expressions():
    x, y = column("x", NUMBER), column("y", NUMBER)
    total = Call("+", (Call("*", (x, y), NUMBER), Call("/", (y, Const(3, NUMBER)), NUMBER)), NUMBER)
    both_sizes(total, NUMBER, NUMBER)
    both_sizes(Call("to_string", (total,), SYMBOL), NUMBER, NUMBER)
    both_sizes(Call("+", (Const(1 << 30, NUMBER), Const(1 << 30, NUMBER)), NUMBER), NUMBER)
    both_sizes(Call("*", (Const((1 << 63) - 1, NUMBER), Const(3, NUMBER)), NUMBER), NUMBER)
    # The right side of `lor` is not computed where the left one decides.
    both_sizes(Call("lor", (Const(1, NUMBER), Call("/", (x, Const(0, NUMBER)), NUMBER)), NUMBER), NUMBER)


def test_records_branches_and_functions_of_the_user():
    x, y = column("x", NUMBER), column("y", NUMBER)
    both_sizes(MakeRecord((x, y)), NUMBER, NUMBER)
    both_sizes(Part(MakeRecord((x, y)), 1, NUMBER), NUMBER, NUMBER)
    both_sizes(MakeBranch("A", (x,)), NUMBER)
    both_sizes(Part(column("x", ADT), 0, NUMBER), ADT)
    both_sizes(UserCall("twice", (x,), NUMBER), NUMBER)
    both_sizes(Const(None, RECORD), NUMBER)


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED, SYMBOL, RECORD, ADT])
@pytest.mark.parametrize("source", [NUMBER, UNSIGNED, SYMBOL, RECORD])
def test_the_same_word_under_another_kind(source: Kind, kind: Kind):
    both_sizes(Reinterpret(column("x", source), kind), source)


def test_bits_of_floats():
    both_sizes(Reinterpret(column("x", FLOAT), NUMBER), FLOAT)
    both_sizes(Reinterpret(Reinterpret(column("x", FLOAT), NUMBER), FLOAT), FLOAT)


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED, FLOAT, SYMBOL])
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_comparisons(op: str, kind: Kind):
    both_sizes(Compare(op, column("x", kind), column("y", kind)), kind, kind)
    constant = Const("ab", kind) if kind is SYMBOL else Const(1, kind)
    both_sizes(Compare(op, constant, column("x", kind)), kind)


@pytest.mark.parametrize("kind", [RECORD, ADT])
@pytest.mark.parametrize("op", ["=", "!="])
def test_comparisons_of_what_has_no_order(op: str, kind: Kind):
    both_sizes(Compare(op, column("x", kind), column("y", kind)), kind, kind)


def test_conditions():
    x, y = column("x", SYMBOL), column("y", SYMBOL)
    for op in ("match", "not_match", "contains", "not_contains"):
        both_sizes(Compare(op, x, y), SYMBOL, SYMBOL)
    both_sizes(IsRecord(column("x", RECORD)), RECORD)
    both_sizes(IsBranch(column("x", ADT), "A"), ADT)
    both_sizes(Never(), NUMBER)
    both_sizes(Compare("<", Const(1, NUMBER), Const(2, NUMBER)), NUMBER)


def test_a_counter_counts_every_row_and_a_round_is_the_current_one():
    computer = machine(64)
    vectors = Vectors(computer)
    batch = {"x": words([7, 7, 7])}
    count = vectors.scalar(Call("+", (Counter(), column("x", NUMBER)), NUMBER))
    assert count(batch, 3).tolist() == [7, 8, 9]
    assert count(batch, 3).tolist() == [10, 11, 12]
    current = vectors.scalar(Round())
    computer.round = 4
    assert np.broadcast_to(current(batch, 3), 3).tolist() == [4, 4, 4]
    computer.round = 5
    late = vectors.condition(Compare("=", Round(), Const(5, UNSIGNED)))
    assert bool(np.all(late(batch, 3)))


def test_a_function_is_called_once_for_equal_operands():
    calls: list[int] = []

    def seen(number: int) -> int:
        calls.append(number)
        return number

    computer = Machine(Words(64), {"seen": seen}, lambda message, span: None)
    compute = Vectors(computer).scalar(UserCall("seen", (column("x", NUMBER),), NUMBER))
    assert compute({"x": words([3, 5, 3, 3, 5])}, 5).tolist() == [3, 5, 3, 3, 5]
    assert calls == [3, 5]

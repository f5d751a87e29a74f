"""Steps in the kernels do what the same steps do over vectors, and rules of any size fit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import MAX, MIN, any_int64, for_all, words
from tests.unit.engines.local.probing import Row, machine, rows_of, staged, visible

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import Plan, plan_query
from flintlog.engines.local.rule_code import RuleCode, computable, in_kernels
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.queries.query import Absent, Literal, Query, Rows
from flintlog.ir.nodes import Each, Let, Node, Scan, Where
from flintlog.ir.scalar import Call, Column, Compare, Const, Never, Reinterpret, Scalar
from flintlog.types import Kind

NUMBER, UNSIGNED, FLOAT, SYMBOL, *_ = Kind
EXTREMES = [MIN, MIN + 1, -2, -1, 0, 1, 2, 7, 1 << 40, MAX - 1, MAX]


def column(name: str, kind: Kind = NUMBER) -> Column:
    return Column(name, kind)


def number(value: int) -> Const:
    return Const(value, NUMBER)


X, Y, Z, W = map(column, "xyzw")
pairs = st.lists(st.tuples(any_int64, any_int64), min_size=1, max_size=20)


def both(rows: list[Row]) -> list[Row]:
    """The rows, and every pair of words where something could overflow."""
    return [*rows, *product(EXTREMES, EXTREMES)]


def check_scalar(scalar: Scalar, rows: list[Row]) -> None:
    assert computable(scalar, whole_words=True)
    batch = {"x": words(x for x, _ in rows), "y": words(y for _, y in rows)}
    code = RuleCode(machine(), frozenset("xyz"), ["x", "y"])
    code.add(Let(Z, scalar))
    expected = np.broadcast_to(Vectors(machine()).scalar(scalar)(batch, len(rows)), len(rows))
    assert [row[0] for row in staged(code, ["z"], batch, len(rows))] == expected.tolist()


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED])
@pytest.mark.parametrize("op", ["+", "-", "*", "band", "bor", "bxor", "min", "max"])
def test_operations(op: str, kind: Kind):
    scalar = Call(op, (column("x", kind), column("y", kind)), kind)
    if op in ("min", "max") and kind is UNSIGNED:
        assert not computable(scalar, whole_words=True)
        return

    @for_all(pairs, examples=15)
    def check(rows: list[Row]) -> None:
        check_scalar(scalar, both(rows))
        check_scalar(Call(op, (Const(3, kind), scalar), kind), both(rows))

    check()


@pytest.mark.parametrize("divisor", [1, 2, -2, 3, -3, 10**9 + 7, MAX, MIN])
@pytest.mark.parametrize("op", ["/", "%"])
def test_division_by_a_constant(op: str, divisor: int):
    @for_all(pairs, examples=10)
    def check(rows: list[Row]) -> None:
        check_scalar(Call(op, (X, number(divisor)), NUMBER), both(rows))

    check()


@pytest.mark.parametrize(
    "scalar",
    [
        Call("/", (X, number(0)), NUMBER),
        Call("%", (X, number(-1)), NUMBER),
        Call("/", (X, Y), NUMBER),
        Call("/", (column("x", UNSIGNED), Const(3, UNSIGNED)), UNSIGNED),
        Call("+", (column("x", FLOAT), column("y", FLOAT)), FLOAT),
        Call("^", (X, Y), NUMBER),
        Call("+", (X, Call("^", (X, Y), NUMBER)), NUMBER),
        Call("bshl", (X, Y), NUMBER),
        Reinterpret(X, SYMBOL),
    ],
    ids=str,
)
def test_what_the_kernels_leave_to_vectors(scalar: Scalar):
    assert not computable(scalar, whole_words=True)
    assert not in_kernels(Let(Z, scalar), whole_words=True)


def test_words_of_32_bits_are_not_computed_in_the_kernels():
    assert not computable(Call("+", (X, Y), NUMBER), whole_words=False)
    assert in_kernels(Where(Compare("<", X, Y)), whole_words=False)
    unsigned = Compare("<", column("x", UNSIGNED), column("y", UNSIGNED))
    assert not in_kernels(Where(unsigned), whole_words=False)
    assert in_kernels(Where(unsigned), whole_words=True)


@pytest.mark.parametrize("kind", [NUMBER, UNSIGNED])
@pytest.mark.parametrize("op", ["=", "!=", "<", "<=", ">", ">="])
def test_comparisons(op: str, kind: Kind):
    x, y = column("x", kind), column("y", kind)

    @for_all(pairs, examples=15)
    def check(rows: list[Row]) -> None:
        rows = both(rows)
        batch = {"x": words(x for x, _ in rows), "y": words(y for _, y in rows)}
        for condition in (Compare(op, x, y), Compare(op, Const(1, kind), Call("-", (x, y), kind))):
            assert in_kernels(Where(condition), whole_words=True)
            code = RuleCode(machine(), frozenset("xy"), ["x", "y"])
            code.add(Where(condition))
            keep = np.broadcast_to(Vectors(machine()).condition(condition)(batch, len(rows)), len(rows))
            assert staged(code, ["x", "y"], batch, len(rows)) == [r for r, k in zip(rows, keep, strict=True) if k]

    check()


@pytest.mark.parametrize(
    "condition",
    [
        Never(),
        Compare("=", column("x", FLOAT), column("y", FLOAT)),
        Compare("<", column("x", SYMBOL), column("y", SYMBOL)),
    ],
    ids=str,
)
def test_conditions_that_vectors_have_alone(condition: Compare | Never):
    assert not in_kernels(Where(condition), whole_words=True)


# --- Whole rules ----------------------------------------------------------------------------------


def run(store: dict[str, Relation], literals: list[Literal], *output: Scalar, threads: int = 1) -> set[Row]:
    def source(name: str | Node) -> Relation:
        return store[name if isinstance(name, str) else name.relation]  # type: ignore[union-attr]

    plan: Plan = plan_query(Query(literals, list(output)), None, Statistics(lambda rows: store.get(str(rows.source))))
    into, workers = Relation("head", len(output)), Workers(threads)
    Pipeline(plan, Vectors(machine()), source, workers).run(into)
    workers.close()
    rows = rows_of(into)
    assert len(rows) == len(set(rows))
    return set(rows)


SOME: list[Row] = [(1, 1, 2), (1, 2, 1), (2, 2, 2), (MIN, MIN, MIN), (MAX, MIN, MAX), (3, 3, 1)]


def test_a_variable_several_times_in_a_source():
    store = {"r": visible(3, SOME)}
    assert run(store, [Rows("r", (X, X, Y))], X, Y) == {(a, c) for a, b, c in SOME if a == b}
    assert run(store, [Rows("r", (X, Y, X))], Y) == {(b,) for a, b, c in SOME if a == c}
    assert run(store, [Rows("r", (X, X, X))], X) == {(2,), (MIN,)}
    joined = run(store, [Rows("r", (X, Y, Z)), Rows("r", (Y, W, W))], X, W)
    assert joined == {(a, w) for a, b, _ in SOME for d, w, v in SOME if b == d and w == v}


def test_a_source_without_columns_is_a_test():
    store = {"r": visible(3, SOME), "yes": visible(0, [()]), "no": visible(0, [])}
    assert run(store, [Rows("yes", ()), Rows("r", (X, Y, Z))], X) == {(row[0],) for row in SOME}
    assert run(store, [Rows("no", ()), Rows("r", (X, Y, Z))], X) == set()
    assert run(store, [Rows("yes", ())], number(5)) == {(5,)}
    assert run(store, [], number(5), number(MIN)) == {(5, MIN)}


@pytest.mark.parametrize("wanted", [True, False])
def test_rows_that_are_there_or_not(wanted: bool):
    store = {"r": visible(3, SOME), "s": visible(2, [(1, 1), (2, 2), (MIN, 7)])}
    node = Scan("s", (column("a"), column("b")))
    whole = run(store, [Rows("r", (X, Y, Z)), Absent(node, ("a", "b"), (X, Y), wanted)], X, Y, Z)
    assert whole == {row for row in SOME if (row[:2] in [(1, 1), (2, 2)]) is wanted}
    part = run(store, [Rows("r", (X, Y, Z)), Absent(node, ("a",), (X,), wanted)], X, Y, Z)
    assert part == {row for row in SOME if (row[0] in (1, 2, MIN)) is wanted}
    computed = Call("^", (number(1), X), NUMBER)
    powers = run(
        store, [Rows("r", (X, Y, Z)), Where(Compare(">", X, number(0))), Absent(node, ("b",), (computed,), wanted)], X
    )
    assert powers == ({(row[0],) for row in SOME if row[0] > 0} if wanted else set())


def test_steps_that_only_vectors_know_between_those_of_the_kernels():
    store = {"r": visible(2, [(i, i % 4) for i in range(20)]), "s": visible(2, [(i * i, i) for i in range(400)])}
    literals: list[Literal] = [
        Rows("r", (X, Y)),
        Let(Z, Call("^", (X, number(2)), NUMBER)),
        Where(Compare(">", Y, number(0))),
        Rows("s", (Z, W)),
        Each(column("v"), (number(0), Y)),
    ]
    found = run(store, literals, W, column("v"), Call("+", (X, column("v")), NUMBER))
    assert found == {(i, v, i + v) for i in range(20) for v in range(i % 4)}


@pytest.mark.parametrize("count", [38, 39, 40, 45, 90])
def test_any_number_of_levels(count: int):
    cycle = [(0, 1), (1, 2), (2, 0)]
    names = [column(f"v{i}") for i in range(count + 1)]
    store = {f"r{i}": visible(2, cycle) for i in range(count)}
    found = run(store, [Rows(f"r{i}", (names[i], names[i + 1])) for i in range(count)], names[0], names[-1], names[20])
    assert found == {(i, (i + count) % 3, (i + 20) % 3) for i in range(3)}


@pytest.mark.parametrize("terms", [60, 130, 400])
def test_any_number_of_registers_for_an_expression(terms: int):
    scalar: Scalar = X
    for i in range(terms):
        scalar = Call("+", (scalar, Call("*", (number(7 * i + 1), X), NUMBER)), NUMBER)
    factor = 1 + sum(7 * i + 1 for i in range(terms))
    store = {"r": visible(1, [(i,) for i in range(50)])}
    assert run(store, [Rows("r", (X,))], scalar, X) == {(factor * i, i) for i in range(50)}


@pytest.mark.parametrize("arity", [100, 300])
def test_any_number_of_columns(arity: int):
    values = [tuple((row * 31 + i * 17) % 1000 for i in range(arity)) for row in range(20)]
    store = {"r": visible(arity, values)}
    left = tuple(column(f"a{i}") for i in range(arity))
    right = (left[0], *(column(f"b{i}") for i in range(1, arity)))
    found = run(store, [Rows("r", left), Rows("r", right)], *left, *right[1:])
    assert found == {(*a, *b[1:]) for a in values for b in values if a[0] == b[0]}

"""The order of a pipeline: it begins at the delta, and everything else follows as soon as it can."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.unit.engines.local.probing import visible
from tests.unit.engines.local.test_query import JOIN, tree

from flintlog.diagnostics import InternalError
from flintlog.engines.local.plan import Plan, Probe, plan_query
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Absent, Query, Rows, query_of, reads
from flintlog.ir.nodes import Each, Let, Where
from flintlog.ir.scalar import Call, Column, Compare, Const, Scalar
from flintlog.types import Kind


def number(name: str) -> Column:
    return Column(name, Kind.NUMBER)


X, Y, Z, W = map(number, "xyzw")
ONE = Const(1, Kind.NUMBER)


def planned(query: Query, delta: int | None = None, sizes: Mapping[str, int] | None = None) -> Plan:
    """The plan where sources have so many rows, or ten, that meet one to one."""
    store: dict[str, Relation] = {}
    for literal in query.literals:
        if isinstance(literal, Rows):
            size = (sizes or {}).get(str(literal.source), 10)
            store[str(literal.source)] = visible(
                len(literal.variables), [(i,) * len(literal.variables) for i in range(size)]
            )
    return plan_query(query, delta, Statistics(lambda rows: store[str(rows.source)]))


def order(plan: Plan) -> list[str]:
    lines = []
    for step in plan.steps:
        match step:
            case Probe(rows, key, _, _, _, delta):
                lines.append(f"{'Δ' if delta else ''}{rows.source}{list(key)}")
            case _:
                lines.append(type(step).__name__)
    return lines


def query(*literals: Rows | Absent | Where | Let | Each, output: tuple[Scalar, ...] = (X,)) -> Query:
    return Query(list(literals), list(output))


def test_without_a_delta_the_smallest_source_is_first():
    assert order(planned(query_of(tree(JOIN)), sizes={"e": 5, "r": 9})) == ["e[]", "r[0]"]
    assert order(planned(query_of(tree(JOIN)), sizes={"e": 9, "r": 5})) == ["r[]", "e[1]"]


def test_the_delta_is_first_whatever_its_size():
    assert order(planned(query_of(tree(JOIN)), 1, {"e": 1, "r": 1000})) == ["Δr[]", "e[1]"]


def test_a_cross_product_is_the_last_resort():
    parts = Rows("a", (X, Y)), Rows("b", (Z, W)), Rows("c", (Y, Z))
    assert order(planned(query(*parts), sizes={"a": 1, "b": 2, "c": 1000})) == ["a[]", "c[0]", "b[0]"]
    assert order(planned(query(*parts[:2]), sizes={"a": 2, "b": 1})) == ["b[]", "a[]"]


def test_a_source_that_refuses_rows_comes_before_one_that_does_not():
    parts = Rows("a", (X, Y)), Rows("b", (X, Y, Z)), Rows("c", (X,))
    assert order(planned(query(*parts), 0, {"c": 3})) == ["Δa[]", "c[0]", "b[0, 1]"]
    assert order(planned(query(*parts), 0, {"b": 3})) == ["Δa[]", "b[0, 1]", "c[0]"]


def test_filters_run_before_what_computes_and_what_computes_before_what_multiplies():
    each, let = Each(Y, (ONE, X)), Let(Z, Call("+", (X, ONE), Kind.NUMBER))
    absent = Absent(tree(JOIN), ("x",), (X,))
    where = Where(Compare("<", X, ONE))
    plan = planned(query(Rows("a", (X,)), each, let, absent, where))
    assert order(plan) == ["a[]", "Where", "Absent", "Let", "Each"]


def test_a_condition_waits_for_its_variables_only():
    where = Where(Compare("<", X, Y))
    parts = Rows("a", (X,)), Rows("b", (X, Y)), Rows("c", (Y, Z)), where
    assert order(planned(query(*parts))) == ["a[]", "b[0]", "Where", "c[0]"]


@pytest.mark.parametrize(
    "partial",
    [
        Call("/", (ONE, X), Kind.NUMBER),
        Call("%", (ONE, Call("-", (X, ONE), Kind.NUMBER)), Kind.NUMBER),
        Call("to_number", (Call("to_string", (X,), Kind.SYMBOL),), Kind.NUMBER),
    ],
)
def test_what_may_fail_waits_for_all_that_stands_before_it(partial: Scalar):
    parts = Rows("big", (X,)), Rows("small", (X,)), Let(Y, partial), Rows("c", (Y, Z))
    assert order(planned(query(*parts), sizes={"small": 1})) == ["small[]", "big[0]", "Let", "c[0]"]


def test_a_division_by_a_constant_does_not_wait():
    half = Let(Y, Call("/", (X, Const(2, Kind.NUMBER)), Kind.NUMBER))
    parts = Rows("big", (X, W)), Rows("small", (X,)), half
    assert order(planned(query(*parts), sizes={"small": 1})) == ["small[]", "Let", "big[0]"]


def test_a_variable_twice_in_one_source_is_a_test_inside_it():
    (probe,) = planned(query(Rows("a", (X, Y, X, X)))).steps
    assert isinstance(probe, Probe)
    assert (probe.key, probe.same) == ((), ((0, 2), (0, 3)))
    assert probe.binds == ((0, X), (1, Y))


def test_what_is_computed_and_known_is_compared():
    let, each = Let(Y, Call("+", (X, ONE), Kind.NUMBER)), Each(Z, (ONE, X))
    plan = planned(query(Rows("a", (X, Y, Z)), let, each))
    assert order(plan) == ["a[]", "Where", "Each", "Where"]
    fresh, test = plan.steps[2:]
    assert isinstance(fresh, Each)
    assert isinstance(test, Where)
    assert fresh.column != Z
    assert reads(test) == {"z", fresh.column.name}


def test_a_variable_that_nothing_binds_is_a_bug_of_ours():
    with pytest.raises(InternalError):
        planned(query(Rows("a", (X,)), Where(Compare("<", X, Y))))

"""Filters and groups leave answers as they are, and are chosen where they leave out work."""

from __future__ import annotations

import pytest
from tests.unit.engines.local.closures_of_graphs import JOINS, OUTSIDE, agrees
from tests.unit.engines.local.probing import Row, machine, visible

from flintlog.engines.local import filters, grouping, pipeline
from flintlog.engines.local import fixpoint as columnar
from flintlog.engines.local.filters import filter_levels
from flintlog.engines.local.grouping import grouped
from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.rule_code import RuleCode
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Literal, Query, Rows
from flintlog.ir.nodes import Node, Where
from flintlog.ir.scalar import Column, Compare
from flintlog.types import Kind

X, Y, Z, W = (Column(name, Kind.NUMBER) for name in "xyzw")
PROGRAMS = pytest.mark.parametrize("text", [JOINS, OUTSIDE], ids=["joins", "outside"])


@PROGRAMS
@pytest.mark.parametrize("worth", [-1.0, 2.0], ids=["never", "always"])
def test_answers_with_and_without_filters(text: str, worth: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(filters, "WORTH", worth)
    assert agrees(text, 60, 130)


@PROGRAMS
@pytest.mark.parametrize("worth", [1e9, 0.0], ids=["never", "always"])
def test_answers_with_and_without_groups(text: str, worth: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grouping, "WORTH", worth)
    monkeypatch.setattr(pipeline, "MIN_DELTA", 0)
    taken: list[bool] = []

    def watched(*arguments):
        taken.append((result := grouped(*arguments)) is not None)
        return result

    monkeypatch.setattr(columnar, "grouped", watched)
    assert agrees(text, 60, 130)
    assert any(taken) is (worth == 0.0 and text == JOINS)  # every column is read in the other program


def code_for(store: dict[str, Relation], literals: list[Literal]) -> tuple[RuleCode, Statistics]:
    """The code of a rule from the delta of its first literal on."""
    statistics = Statistics(lambda rows: store[str(rows.source)])
    plan = plan_query(Query(literals, []), 0, statistics)
    code = RuleCode(machine(), frozenset("xyzw"), None)
    for step in plan.steps:
        code.add(step)
    return code, statistics


def sources(store: dict[str, Relation]):
    def source(name: str | Node) -> Relation:
        assert isinstance(name, str)
        return store[name]

    return source


def filtered(b: list[Row], c: list[Row], settled: bool = True) -> list[int]:
    """How many filters each level has in d(x), b(x, y), c(y, z)."""
    store = {"d": visible(1, [(i,) for i in range(20)]), "b": visible(2, b), "c": visible(2, c)}
    code, statistics = code_for(store, [Rows("d", (X,)), Rows("b", (X, Y)), Rows("c", (Y, Z))])
    filter_levels(code, sources(store), lambda relation, other: settled and (relation, other) == ("b", "c"), statistics)
    assert all(f == ("c", (0,), (1,)) for level in code.levels for f in level.filters)
    return [len(level.filters) for level in code.levels]


def test_a_filter_is_for_rows_that_come_to_nothing():
    b: list[Row] = [(i % 20, i) for i in range(400)]
    most: list[Row] = [(i, i) for i in range(400)]
    few = most[::8]
    assert filtered(b, few) == [0, 1, 0]
    assert filtered(b, most) == [0, 0, 0]
    assert filtered(b, few, settled=False) == [0, 0, 0]


def groups(d: list[Row], literals: list[Literal], output: str) -> RuleCode | None:
    store = {"d": visible(2, d), "b": visible(2, [(i, i) for i in range(50)])}
    code, statistics = code_for(store, literals)
    return grouped(code, list(output), sources(store), statistics)


MANY: list[Row] = [(i % 10, i) for i in range(200)]
ONE: list[Row] = [(i, i) for i in range(200)]
CHAIN: list[Literal] = [Rows("d", (X, Y)), Rows("b", (X, Z)), Rows("b", (Z, W))]


def test_groups_are_for_deltas_whose_other_columns_only_come_out():
    found = groups(MANY, CHAIN, "yw")
    assert found is not None
    assert [level.kind for level in found.levels] == [at.LEVEL_GROUPS, at.LEVEL_PROBE, at.LEVEL_PROBE, at.LEVEL_PROBE]
    outer, inner = found.levels[0], found.levels[-1]
    assert (outer.key, inner.key) == ((0,), (0,))
    assert (outer.delta, inner.delta) == (True, True)
    assert found.back_level(["y", "w"]) == 3
    assert found.back_level(["w"]) == 2


def test_groups_that_would_not_pay_or_not_be_right():
    assert groups(ONE, CHAIN, "yw") is None  # every group has one row
    assert groups(MANY, CHAIN, "xw") is None  # nothing of the delta is left for the innermost level
    assert groups(MANY, CHAIN[:2], "yz") is None  # nothing is found twice
    compared: list[Literal] = [*CHAIN, Where(Compare("<", Y, W))]
    assert groups(MANY, compared, "yw") is None  # every column is read on the way

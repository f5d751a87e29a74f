"""Variables across the border of an aggregate."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, diagnose, errors

from flintlog.check.grounding.scopes import resolve_scopes

DECLS = """
.decl n(x: number) .decl m(x: number, y: number) .decl o(x: number, y: number, z: number)
.decl out(x: number) .decl pair(x: number, y: number) .decl q(x: number, y: number, z: number)
"""

RIGHT = [
    "pair(x, y) :- x = min z : { m(z, y) }.",
    "pair(x, y) :- x = max z : { m(z, y), n(z) }.",
    "pair(y, x) :- n(y), x = sum z : { m(z, y) }.",
    "pair(x, y) :- x = sum z : { m(z, w), w > 1 }, y = sum z : { m(z, w), w < 1 }.",
    "out(x) :- n(y), x = sum y : { m(y, _) }, y > 1.",
    "out(x) :- x = sum y : { m(x, y) }.",
]

WRONG = {
    "pair(x, y) :- x = sum z : { m(z, y) }.": "E404",
    "pair(x, y) :- x = count : { m(_, y) }.": "E404",
    "out(x) :- x = count : { m(_, y) }, y > 1.": "E404",
    "pair(x, y) :- x = sum z + y : { m(z, y) }.": "E404",
    "pair(x, y) :- x = sum z : { n(z), z < y }, y = sum z : { n(z), z < x }.": "E405",
    "pair(a, b) :- x = min z : { m(z, a), a < b }, y = max z : { m(z, b), b < a }, x < y.": "E401",
}


@pytest.mark.parametrize("rule", RIGHT)
def test_accepts(rule):
    assert [d.render() for d in diagnose(DECLS + rule) if d.is_error] == []


@pytest.mark.parametrize(("rule", "code"), WRONG.items())
def test_rejects(rule, code):
    assert code in errors(DECLS + rule)


def scopes(rule: str):
    return resolve_scopes(checked(DECLS + rule).clauses[-1]).aggregates


def test_kinds_of_variables():
    (scope,) = scopes("q(x, y, v) :- n(v), x = max z : { o(z, y, v), m(v, w), w > 1 }.")
    assert scope.injected == {"v"}
    assert scope.witnesses == {"y"}
    assert scope.local == {"z", "w"}


def test_the_target_shadows():
    (scope,) = scopes("out(x) :- n(y), x = sum y : { m(y, _) }, y > 1.")
    assert scope.injected == set()
    assert scope.local == {"y'0"}


def test_the_result_of_an_aggregate_is_not_injected_into_it():
    (scope,) = scopes("out(x) :- x = sum y : { m(x, y) }.")
    assert scope.local == {"x'0", "y"}


def test_an_inner_aggregate_sees_the_outer_body():
    outer, inner = scopes("out(x) :- x = sum y : { m(y, z), y < count : { m(z, w), w > 1 } }.")
    assert inner.parent is outer
    assert inner.injected == {"z"}
    assert inner.local == {"w"}

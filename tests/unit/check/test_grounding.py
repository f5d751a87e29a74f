"""Which variables have a value."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import diagnose, errors

DECLS = """
.type R = [a: number, b: number]
.type T = A {x: number} | B {}
.functor f(x: number): number
.functor fold(x: number, y: number): number
.decl n(x: number) .decl m(x: number, y: number) .decl r(x: R) .decl t(x: T) .decl out(x: number)
.decl two(x: number, y: number) inline
.decl same(x: number, y: number) inline
.decl sub(x: number, y: number) btree_delete
two(x, y) :- m(x, y).
same(x, y) :- x = y.
"""

RIGHT = [
    "out(x) :- n(x).",
    "out(x) :- x = 1.",
    "out(x) :- x = y, y = z, n(z).",
    "out(x) :- x = y + 1, n(y).",
    "out(z) :- z = y * 2, y = x + 1, n(x).",
    "out(a) :- r(x), x = [a, b], b > 1.",
    "out(a) :- r([a, _]).",
    "r(x) :- n(a), n(b), x = [a, b].",
    "out(x) :- t($A(x)).",
    "out(x) :- t(y), y = $A(x).",
    "out(x) :- [x, y] = [1, 2], y > 1.",
    "out(b) :- [a, b] = [c, 2], n(c), a > 1.",
    "out(x) :- x = range(1, 3).",
    "out(x) :- x = count : { n(_) }.",
    "out(x) :- n(y), x = sum z : { m(y, z) }.",
    "out(x) :- x = as(y, number), n(y).",
    "out(x) :- n(x), !m(x, _).",
    "out(x) :- n(x), !r([x, 1]).",
    "out(1) :- n(x), n(x + 1).",
    "out(@f(x)) :- n(x).",
    "out(count : { n(_) }).",
    "out(x) :- two(x, _).",
    "out(x) :- same(x, 1).",
    "out(x) :- n(y), same(x, y).",
    "sub(x, a) <= sub(x, b) :- a < b.",
    "out(x) :- n(y), x = min z : { m(z, w), w > y }.",
    "out(x) :- n(y), x = @@fold z : y + 1, { m(y, z) }.",
    "out(x) :- x = @@fold z : y, { m(z, w) }, y = w + 1, n(w).",
]

WRONG = {
    "out(x) :- n(_).": ["E401"],
    "out(x) :- n(y), x > y.": ["E401"],
    "out(x) :- !n(x).": ["E401"],
    "out(x) :- n(x + 1).": ["E401"],
    "out(x) :- 3 = x + 1.": ["E401"],
    "out(x) :- x = y, y = x.": ["E401"],
    "out(x) :- n(as(x, number)).": ["E401"],
    "out(1) :- n(x), !m(x, y).": ["E401"],
    "out(x) :- n(y), @f(x) = y.": ["E401"],
    "out(x) :- x = count : { n(y), y < z }.": ["E401"],
    "out(x) :- x = @@fold z : y, { m(_, z) }.": ["E401"],
    "out(x) :- x = @@fold z : y + 1, { m(_, z) }.": ["E401"],
    "out(x) :- x = @@fold z + y : 0, { m(_, z) }.": ["E401"],
    "out(1) :- n(x), !r([x, _]).": ["E402"],
    "out(x) :- same(x, _).": ["E403", "E403"],
    "out(x) :- same(x, y), x != y.": ["E403", "E403"],
    "sub(x, a) <= sub(x, b) :- a < c.": ["E401"],
    "out(x) :- r([x, y]), y = z + w.": ["E401", "E401"],
}


@pytest.mark.parametrize("rule", RIGHT)
def test_accepts(rule):
    assert [d.render() for d in diagnose(DECLS + rule) if d.is_error] == []


@pytest.mark.parametrize(("rule", "codes"), WRONG.items())
def test_rejects(rule, codes):
    assert errors(DECLS + rule) == codes


def test_one_error_per_variable_at_its_first_place():
    text = ".decl a(x: number, y: number) a(x, x) :- x > 1, x < 2."
    (found,) = [d for d in diagnose(text) if d.is_error]
    assert found.code == "E401"
    assert text.index("a(x, x)") + 2 == found.span.start
    assert "not negated" in (found.note or "")


def test_unused_inline_rules_need_not_bind_their_heads():
    assert errors(".decl p(x: number, y: number) inline p(x, y) :- x < y.") == []

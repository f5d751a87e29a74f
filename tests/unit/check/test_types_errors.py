"""Which clauses have types that fit, and what is said about those that do not."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import diagnose, errors

DECLS = """
.type Age <: number
.type Size <: number
.type Both = Age | Size
.type Name <: symbol
.type P = [n: Name, a: Age]
.type Q = [p: P, next: Q]
.type Alias = P
.type T = A {x: number} | B {l: T, r: T} | C {}
.type S = D {}
.functor g(x: Age): Age
.functor k(x: number): number
.functor h(x: T): number stateful
.decl n(x: number) .decl u(x: unsigned) .decl f(x: float) .decl s(x: symbol)
.decl age(x: Age) .decl size(x: Size) .decl both(x: Both) .decl name(x: Name)
.decl p(x: P) .decl q(x: Q) .decl al(x: Alias) .decl t(x: T) .decl t2(x: S)
.decl i(x: int32) .decl str(x: string) .decl out(x: number)
"""

RIGHT = [
    "n(x) :- age(x).",
    "age(1).",
    "age(x + 1) :- age(x).",
    "age(x + y) :- age(x), size(y).",
    "age(x) :- n(y), x = y + 1.",
    "age(as(x, Age)) :- n(x).",
    "both(x) :- age(x).",
    "both(x) :- both(x), !age(x).",
    "age(x) :- age(x), both(x).",
    "age(x) :- age(x), n(x).",
    "n(x) :- age(x), !size(x).",
    "n(x) :- n(x), !age(x).",
    'name("x").',
    "p([x, y]) :- name(x), age(y).",
    'p(["x", 1]).',
    "p(nil).",
    "al(x) :- p(x).",
    "p(x) :- al(x), x != nil.",
    "q([[x, y], nil]) :- p([x, y]).",
    "name(x) :- q([[x, _], _]).",
    "age(y) :- p(r), r = [_, y].",
    "n(1) :- [x, 1] = [y, z], n(y), n(z), x < 3.",
    "t($B($A(1), $C)).",
    "n(x) :- t($A(x)).",
    "t(x) :- x = $C().",
    'n(1) :- s(x), match("a.*", x), contains("b", x).',
    'n(1) :- s(x), s(y), x < y, x >= "b".',
    "n(x bshl 2) :- n(x).",
    "f(x ^ 2) :- f(x).",
    's(cat("a")).',
    's(x + "b") :- s(x).',
    "n(to_number(x)) :- s(x).",
    "s(to_string(x)) :- s(x).",
    "n(ord(x)) :- t(x).",
    "n(-x) :- n(x).",
    "age(@g(x)) :- age(x).",
    "n(@h(x)) :- t(x).",
    "n(x) :- x = sum 2 * y : { age(y) }.",
    "n(x) :- x = count : { s(_) }.",
    "out(x) :- n(y), x = max z : { n(z), z < y }.",
    "n(@g(x)) :- n(x).",
    "i(x) :- n(x).",
    "n(x) :- i(x).",
    "str(x) :- s(x).",
    "f(1e3).",
    "n(0x10) :- u(0b11), f(1), u(2u).",
    "n(autoinc()) :- s(_).",
]

WRONG = {
    "age(x) :- n(x).": "E302",
    "age(x) :- size(x).": "E302",
    "age(x) :- both(x).": "E302",
    "n(1) :- age(x), size(x).": "E301",
    "n(x) :- s(x).": "E301",
    "n(x) :- u(x).": "E301",
    "s(x) :- name(y), x = y, n(x).": "E301",
    "n(1) :- s(x), !n(x).": "E301",
    "n(1) :- t(x), !t2(x).": "E303",
    "n(x) :- both(y), x = y + 1.": "E317",
    'n("x").': "E304",
    's("x") :- n("y").': "E304",
    "s(1).": "E305",
    "n(1.5).": "E305",
    "n(1u).": "E305",
    "f(1u).": "E305",
    "u(-1).": "E306",
    "n(99999999999999999999).": "E306",
    "n(nil).": "E308",
    "n(1) :- x = nil, n(y), y = 1.": "E308",
    "n([1, 2]).": "E309",
    "p([1]).": "E310",
    "p([1, 2]).": "E305",
    'p(["x"]).': "E310",
    'p(["x", 1, 2]).': "E310",
    "p([x, y]) :- age(x), age(y).": "E301",
    "t($X()).": "E311",
    "t($D).": "E302",
    "n($C).": "E312",
    "t($A(1, 2)).": "E313",
    "t($A).": "E313",
    't($A("x")).': "E304",
    "n(as(x, Nothing)) :- n(x).": "E314",
    "n(as(x, symbol)) :- n(x).": "E315",
    's(substr("abc", 1)).': "E316",
    "n(range(1)).": "E316",
    's(cat("a", x)) :- n(x).': "E317",
    "u(-x) :- u(x).": "E317",
    "f(x % 2) :- f(x).": "E317",
    "n(strlen(x)) :- n(x).": "E317",
    "n(x) :- age(x), x = @k(1).": "E318",
    "n(x) :- size(x), x = @g(1).": "E301",
    "size(@g(x)) :- age(x).": "E302",
    "n(@h(x)) :- n(x).": "E301",
    "age(@g(x, 1)) :- age(x).": "E319",
    "n(1) :- p(x), p(y), x < y.": "E322",
    'n(1) :- n(x), contains("a", x).': "E301",
    "n(1) :- t(x), t(y), x < y.": "E322",
    "u(x) :- x = count : { s(_) }.": "E301",
    "f(x) :- x = mean y : { n(y) }.": "E301",
    "s(x) :- x = min y : { s(y) }.": "E301",
    "n(x) :- x = sum y : { f(y) }.": "E301",
    ".functor bad(x: P): number": "E324",
    ".functor bad(x: number): T": "E324",
}


@pytest.mark.parametrize("rule", RIGHT)
def test_accepts(rule):
    assert [d.render() for d in diagnose(DECLS + rule) if d.is_error] == []


@pytest.mark.parametrize(("rule", "code"), WRONG.items())
def test_rejects(rule, code):
    assert code in errors(DECLS + rule)


def test_a_clash_names_both_types_and_says_what_helps():
    (found,) = [d for d in diagnose(".decl a(x: number) .decl b(x: symbol) a(x) :- b(x).") if d.is_error]
    assert "`number`" in found.message
    assert "`symbol`" in found.message
    assert "to_number(x)" in (found.note or "")
    assert len(found.labels) == 3


def test_one_mistake_one_error():
    assert errors('.decl a(x: number, y: symbol) .decl b(x: number) b(x) :- a(x, _), x = "s".') == ["E301"]


def test_wrong_declarations_hide_what_follows_from_them():
    assert errors(".type A <: B .decl a(x: A) a(1).") == ["E272"]


def test_legacy_mode_lets_subsets_pass():
    text = ".type A <: number .decl a(x: A) .decl n(x: number) a(x) :- n(x)."
    assert errors(text) == ["E302"]
    assert errors('.pragma "legacy" ' + text) == []


HEAD_AGGREGATES = [
    (".decl r(x: number, y: number) .decl c(x: number, y: number) c(x, COUNT(y)) :- r(x, y).", []),
    (".decl r(x: number, y: number) .decl c(x: number, y: float) c(x, AVG(y)) :- r(x, y).", []),
    (".decl r(x: number, y: float) .decl c(x: number, y: float) c(x, SUM(y)) :- r(x, y).", []),
    (".decl r(x: number, y: float) .decl c(x: number, y: number) c(x, MAX(y)) :- r(x, y).", ["E325"]),
    (".decl r(x: number, y: number) .decl c(x: number, y: symbol) c(x, COUNT(y)) :- r(x, y).", ["E325"]),
    (".decl r(x: number, y: number) .decl c(x: number, y: number) c(x, AVG(y)) :- r(x, y).", ["E325"]),
]


@pytest.mark.parametrize(("text", "codes"), HEAD_AGGREGATES)
def test_head_aggregates(text, codes):
    assert errors(text) == codes

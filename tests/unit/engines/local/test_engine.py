"""The embedded engine has the answers of the reference engine, wherever it goes over from rows to columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flintlog.api.user_program import Program
from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.local.kernels import library
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine, Evaluation, Progress, RunOptions
from flintlog.types import Row

# Every kind of stratum: plain, recursive, best values, equivalences, choices, counters, records, negation, aggregates.
STRATA = """
.decl e(x: number, y: number)
e(1, 2). e(2, 3). e(3, 1). e(4, 5). e(5, 6).
.decl path(x: number, y: number)
path(x, y) :- e(x, y).
path(x, z) :- path(x, y), path(y, z).
.decl news = debug_delta(path)
.decl cost(x: number, c: number)
cost(1, 0). cost(y, c + x) :- cost(x, c), e(x, y), c < 50.
cost(x, a) <= cost(x, b) :- b < a.
.decl dist(x: number, d: number)
dist(x, MIN(c)) :- cost(x, c). dist(y, MIN(d + 1)) :- dist(x, d), e(x, y).
.decl same(x: number, y: number) eqrel
same(x, y) :- e(x, y), x > 3.
.decl chosen(x: number, y: number) choice-domain x
chosen(x, y) :- path(x, y).
.decl numbered(i: number, x: number)
numbered(autoinc(), x) :- chosen(x, _).
.type List = [head: number, tail: List]
.decl list(l: List, n: number)
list(nil, 0). list([n, l], n + 1) :- list(l, n), n < 4.
.decl name(s: symbol)
name(cat("n", to_string(n))) :- list(_, n), !e(n, _).
.decl cyclic()
cyclic() :- path(x, x).
.decl many(x: number, n: number)
many(x, n) :- e(x, _), n = count : { path(x, _) }, cyclic().
.decl next(x: number)
next(1). next(y) :- next(x), y = x + count : { e(x, _) }, y < 9.
"""


def rows_of(engine: Engine, text: str, facts: dict[str, list[Row]] | None = None) -> dict[str, set[Row]]:
    found = engine.run(Program(text).compilation.program, Evaluation(facts or {}))
    assert all(len(rows) == len(set(rows)) for rows in found.values())
    return {name: set(rows) for name, rows in found.items()}


def agree(text: str, facts: dict[str, list[Row]] | None = None) -> dict[str, set[Row]]:
    expected = rows_of(NaiveEngine(), text, facts)
    for engine in (LocalEngine(patience=0), LocalEngine(threads=2, patience=0), LocalEngine()):
        assert rows_of(engine, text, facts) == expected
    return expected


def test_it_can_go_over_to_columns_at_any_row():
    expected = rows_of(NaiveEngine(), STRATA)
    for patience in (*range(0, 60, 3), *range(60, 400, 20)):
        assert rows_of(LocalEngine(patience=patience), STRATA) == expected, patience


def test_many_facts_are_columns_at_once():
    text = ".decl e(x: number, y: number)\n.decl back(x: number, y: number)\nback(y, x) :- e(x, y)."
    facts: dict[str, list[Row]] = {"e": [(i, i * i) for i in range(50)]}
    assert rows_of(LocalEngine(patience=10), text, facts)["back"] == {(y, x) for x, y in facts["e"]}


def test_an_aggregate_in_a_recursive_rule_sees_the_groups_of_every_round():
    text = """
.decl e(x: number, y: number)
e(1, 2). e(1, 3). e(3, 1). e(3, 2). e(5, 1).
.decl p(x: number)
p(1). p(x + count : { e(x, _) }) :- p(x).
.decl q(x: number, s: number)
q(1, 0). q(y, s) :- q(x, _), e(x, y), s = sum z : { e(y, z) }.
"""
    found = agree(text)
    assert found["p"] == {(1,), (3,), (5,), (6,)}
    assert found["q"] == {(1, 0), (2, 0), (3, 3), (1, 5)}


def test_a_range_of_a_variable_that_is_known_is_a_test():
    text = """
.decl n(x: number)
n(1). n(2). n(3).
.decl e(x: number, y: number)
e(2, 7).
.decl r(n: number, x: number, y: number)
r(n, x, y) :- n(n), x = range(0, n), e(x, y).
r(n, x, y) :- e(x, y), n(n), x = range(n, 4).
"""
    assert agree(text)["r"] == {(3, 2, 7), (1, 2, 7), (2, 2, 7)}


@pytest.mark.parametrize("guarded", ["10 / x = y", "y = 10 / x", "y = 10 % x", "y = to_number(s), s != s"])
def test_what_stands_before_a_division_keeps_zeros_from_it(guarded: str):
    text = f"""
.decl nonzero(x: number, s: symbol)
nonzero(2, "2"). nonzero(3, "3"). nonzero(4, "4"). nonzero(5, "5").
.decl few(x: number, s: symbol)
few(0, "no"). few(2, "2").
.decl y(y: number)
y(range(0, 20)).
.decl r(x: number, y: number)
r(x, y) :- nonzero(x, s), few(x, s), y(y), {guarded}.
"""
    agree(text)


@pytest.mark.parametrize("type_name", ["symbol", "Pair"])
def test_a_number_that_stands_for_nothing_is_a_mistake_of_the_program(type_name: str):
    text = f".type Pair = [x: number]\n.decl a(x: {type_name})\na(as(n, {type_name})) :- n = 99."
    for engine in (NaiveEngine(), LocalEngine(patience=0)):
        with pytest.raises(FlintlogError) as caught:
            rows_of(engine, text)
        assert [problem.code for problem in caught.value.diagnostics] == ["E801"]


def test_inputs_of_special_relations_go_through_their_insertion():
    text = """
.decl same(x: number, y: number) eqrel
.decl seen(x: number, y: number)
seen(x, y) :- same(x, y).
.decl best(x: number, c: number)
best(x, a) <= best(x, b) :- b <= a.
"""
    found = agree(text, {"same": [(1, 2), (2, 3)], "best": [(1, 5), (1, 3), (2, 8)]})
    assert len(found["seen"]) == 9
    assert found["best"] == {(1, 3), (2, 8)}


def test_extreme_numbers_meet():
    text = """
.decl a(x: number)
a(9223372036854775807). a(-9223372036854775808). a(0). a(-1).
.decl b(x: number, y: number)
b(x, y) :- a(x), a(y).
.decl c(x: number, y: number, z: number)
c(x, y, z) :- b(x, y), b(y, z), x != z.
.decl d(x: number)
d(x + y) :- b(x, y). d(x * y) :- b(x, y). d(x / 3) :- a(x). d(x / -1) :- a(x). d(x % -3) :- a(x).
.decl u(x: unsigned)
u(as(x, unsigned)) :- d(x). u(max(x, y)) :- u(x), u(y).
.decl s(n: number, u: unsigned)
s(n, u) :- n = sum x : { d(x) }, u = max x : { u(x) }.
.decl far(x: number)
far(x) :- c(x, _, y), d(y), !a(y). far(x) :- far(y), c(y, x, _).
"""
    assert len(agree(text)["c"]) == 48


def test_progress_and_compilation_are_said(monkeypatch: pytest.MonkeyPatch):
    said: list[Progress] = []
    monkeypatch.setattr(library, "kernels_are_compiled", lambda: False)
    program = Program(STRATA).compilation.program
    LocalEngine(patience=0).run(program, Evaluation(options=RunOptions(progress=said.append)))
    assert "compiling kernels" in said[0].note
    assert all(step.stratum <= step.strata == len(program.strata) for step in said[1:])
    rounds = [(step.round, step.rows) for step in said if step.relation == "list"]
    # Also after batches inside a round, so that some come twice.
    assert list(dict.fromkeys(rounds)) == [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)]


def test_a_functor_of_the_user_that_fails_is_called_for_rows_that_reach_it_only():
    text = """
.functor half(x: number): number
.decl even(x: number)
even(2). even(4). even(6).
.decl some(x: number)
some(3). some(4).
.decl r(x: number, y: number)
r(x, y) :- even(x), some(x), y = @half(x).
"""

    def half(number: int) -> int:
        assert number % 2 == 0
        return number // 2

    functions: dict[str, Callable[..., Any]] = {"half": half}
    for engine in (NaiveEngine(), LocalEngine(patience=0)):
        found = engine.run(Program(text).compilation.program, Evaluation(functions=functions))
        assert set(found["r"]) == {(4, 2)}

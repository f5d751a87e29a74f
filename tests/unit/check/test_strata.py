"""Stratification, the order of evaluation, plans, and aggregates in heads."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, diagnose, errors, warnings

from flintlog.check.checked import Stratum

AB = ".decl a(x: number) .decl b(x: number) .decl e(x: number) e(1). "
P = ".decl e(x: number, y: number) e(1, 2). .decl p(x: number, y: number) p(x, y) :- e(x, y). "

ACCEPTED = {
    "negation of an earlier relation": AB + "a(x) :- e(x). b(x) :- e(x), !a(x).",
    "recursion": P + "p(x, z) :- p(x, y), e(y, z).",
    "aggregate over an earlier relation": AB + "a(x) :- e(x). b(n) :- n = count : { a(_) }.",
    "recursive MIN": P.replace("p(x, y) :- e(x, y).", "p(x, MIN(y)) :- e(x, y). p(x, MIN(y)) :- p(x, z), e(z, y)."),
    "MIN beside a plain rule": P.replace("p(x, y) :-", "p(x, MIN(y)) :- e(y, x). p(x, y) :-"),
    "COUNT": P.replace("p(x, y) :-", "p(x, COUNT(y)) :-"),
    "recursion beside a subsumption": P + "p(x, z) :- p(x, y), e(y, z). p(x, y) <= p(x, z) :- z < y.",
    "negation in a subsumption": P + ".decl q(x: number) q(1). p(x, y) <= p(x, z) :- z < y, !q(z).",
    "plan": P + "p(x, z) :- p(x, y), e(y, z). .plan 0: (2, 1)",
    "plan of two versions": P + "p(x, z) :- p(x, y), p(y, z). .plan 0: (1, 2), 1: (2, 1)",
}

REJECTED = {
    "its own negation": (AB + "a(x) :- e(x), !a(x).", "E501"),
    "negation on a cycle": (AB + "a(x) :- e(x), !b(x). b(x) :- a(x).", "E501"),
    "negation on a long cycle": (AB + ".decl c(x: number) a(x) :- e(x), !b(x). b(x) :- c(x). c(x) :- a(x).", "E501"),
    "negation through an inline relation": (
        ".decl a(x: number) .decl b(x: number) inline .decl e(x: number) e(1). a(x) :- e(x), !b(x). b(x) :- a(x).",
        "E501",
    ),
    "negation of itself in a subsumption": (P + "p(x, y) <= p(x, z) :- z < y, !p(z, y).", "E501"),
    "aggregate over itself": (AB + "a(n) :- n = count : { a(_) }.", "E502"),
    "aggregate on a cycle": (AB + "a(n) :- n = count : { b(_) }. b(x) :- a(x).", "E502"),
    "aggregate in a head": (AB + "a(count : { b(_) }) :- e(_). b(x) :- a(x).", "E502"),
    "recursive COUNT": (P.replace("p(x, y) :-", "p(x, COUNT(y)) :- p(y, x). p(x, COUNT(y)) :-"), "E503"),
    "recursive SUM": (P.replace("p(x, y) :-", "p(x, SUM(y)) :- p(x, y), e(y, _). p(x, SUM(y)) :-"), "E503"),
    "MIN in a body": (AB + "a(x) :- e(x), x = MIN(x).", "E228"),
    "MIN inside an expression": (AB + "a(1 + MIN(x)) :- e(x).", "E228"),
    "MIN beside MAX": (P.replace("p(x, y) :-", "p(x, MAX(y)) :- e(x, y). p(x, MIN(y)) :-"), "E229"),
    "COUNT beside a plain rule": (P.replace("p(x, y) :-", "p(x, COUNT(y)) :- e(x, y). p(x, y) :-"), "E230"),
    "COUNT of an input": (P.replace("p(x, y) :-", "p(x, COUNT(y)) :-") + ".input p", "E230"),
    "MIN of an inline relation": (
        ".decl e(x: number) e(1). .decl p(x: number) inline p(MIN(x)) :- e(x).",
        "E231",
    ),
    "plan of too few atoms": (P + "p(x, z) :- p(x, y), e(y, z). .plan 0: (1)", "E260"),
    "plan with an atom twice": (P + "p(x, z) :- p(x, y), e(y, z). .plan 0: (1, 1)", "E260"),
    "plan of a version too many": (P + "p(x, z) :- p(x, y), e(y, z). .plan 1: (1, 2)", "E261"),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_rejects(text: str, code: str) -> None:
    assert set(errors(text)) == {code}


def test_the_cycle_is_shown() -> None:
    text = AB + ".decl c(x: number) a(x) :- e(x), !b(x). b(x) :- c(x). c(x) :- a(x)."
    [found] = [d for d in diagnose(text) if d.is_error]
    assert found.message.endswith(": a -> !b -> c -> a")
    assert [label.text for label in found.labels] == ["`b` reads `c`", "`c` reads `a`"]


def test_strata_come_in_order_of_need_then_of_name() -> None:
    program = checked(
        ".decl top(x: number) .decl q(x: number) .decl p(x: number) .decl e(x: number) e(1)."
        " top(x) :- p(x), q(x). p(x) :- q(x). p(x) :- e(x). q(x) :- p(x). .output top"
    )
    assert program.strata == (Stratum(("e",), False), Stratum(("p", "q"), True), Stratum(("top",), False))


def test_independent_relations_come_in_the_order_of_their_names() -> None:
    names = [f"r{i}" for i in (3, 1, 2)]
    program = checked(" ".join(f".decl {name}(x: number) {name}(1)." for name in names))
    assert [stratum.relations[0] for stratum in program.strata] == ["r1", "r2", "r3"]


def test_what_reads_a_relation_follows_it_at_once() -> None:
    program = checked(
        ".decl a(x: number) a(1). .decl b(x: number) b(1). .decl z(x: number) z(x) :- a(x)."
        " .decl y(x: number) y(x) :- a(x), b(x). .output y, z"
    )
    assert [stratum.relations[0] for stratum in program.strata] == ["a", "z", "b", "y"]


def test_inline_relations_are_in_no_stratum_but_carry_recursion() -> None:
    program = checked(
        ".decl a(x: number) .decl i(x: number) inline .decl e(x: number) e(1)."
        " a(x) :- e(x). a(x) :- i(x). i(x) :- a(x). .output a"
    )
    assert program.strata == (Stratum(("e",), False), Stratum(("a",), True))


def test_a_subsumption_alone_makes_no_recursion() -> None:
    program = checked(".decl r(x: number) r(1). r(x) <= r(y) :- x < y. .output r")
    assert program.strata == (Stratum(("r",), False),)


def test_head_aggregates_are_recorded() -> None:
    program = checked(ACCEPTED["recursive MIN"])
    assert program.relations["p"].head_aggregates == (None, "min")
    assert program.relations["e"].head_aggregates == (None, None)


def test_a_plan_that_does_not_fit_a_plain_rule_is_a_warning() -> None:
    assert warnings(P + ".decl q(x: number) q(x) :- p(x, _). .plan 0: (1, 2) \n.output q") == ["W210"]


def test_a_deep_chain_of_relations_needs_no_recursion() -> None:
    count = 3000
    decls = "".join(f".decl r{i}(x: number)\n" for i in range(count))
    rules = "".join(f"r{i}(x) :- r{i + 1}(x).\n" for i in range(count - 1))
    program = checked(decls + rules + f"r{count - 1}(1).")
    assert [s.relations[0] for s in program.strata] == [f"r{i}" for i in reversed(range(count))]

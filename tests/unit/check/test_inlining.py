"""Inline relations: where inlining is impossible."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import errors

I = ".decl e(x: number, y: number) e(1, 2). .decl i(x: number) inline .decl o(x: number) "  # noqa: E741

ACCEPTED = {
    "plain": I + "i(x) :- e(x, _). o(x) :- i(x).",
    "negated": I + "i(x) :- e(x, _). o(x) :- e(x, _), !i(x).",
    "chain": I + ".decl j(x: number) inline i(x) :- e(x, _). j(x) :- i(x). o(x) :- j(x).",
    "cycle with another relation": I + "i(x) :- o(x). o(x) :- i(x). o(x) :- e(x, _).",
    "underscore": I + "i(x) :- e(x, _). o(1) :- i(_).",
    "limit": I + "i(x) :- e(x, _). o(x) :- i(x). .limitsize i(n=3)",
}

REJECTED = {
    "input": (I + ".input i", "E250"),
    "output": (I + "i(x) :- e(x, _). .output i", "E250"),
    "printsize": (I + "i(x) :- e(x, _). .printsize i", "E250"),
    "recursive": (I + "i(x) :- e(x, _). i(x) :- i(y), e(y, x).", "E251"),
    "mutually recursive": (I + ".decl j(x: number) inline i(x) :- j(x). j(x) :- i(x).", "E251"),
    "counter in its rule": (I + "i(autoinc()) :- e(_, _). o(x) :- i(x).", "E252"),
    "counter in its atom": (I + "i(x) :- e(x, _). o(x) :- e(x, _), i(autoinc()).", "E252"),
    "negated with new variables": (I + "i(x) :- e(x, y), e(y, x). o(x) :- e(x, _), !i(x).", "E254"),
    "in an aggregate": (I + "i(x) :- e(x, _). o(n) :- n = count : { i(_) }.", "E255"),
    "negated with a range": (I + "i(x) :- x = range(1, 3). o(x) :- e(x, _), !i(x).", "E254"),
    "negated with underscore": (I + "i(x) :- e(x, _). o(x) :- e(x, _), !i(_).", "E256"),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_rejects(text: str, code: str) -> None:
    assert code in errors(text)

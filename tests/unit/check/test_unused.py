"""Warnings: variables that stand alone, relations without rows or readers."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import warnings

AB = ".decl a(x: number, y: number) a(1, 2). .decl b(x: number) .output b "

CASES = {
    "nothing to say": (AB + "b(x) :- a(x, _).", []),
    "a variable once": (AB + "b(x) :- a(x, y).", ["W203"]),
    "marked as meant": (AB + "b(x) :- a(x, _y).", []),
    "marked, but twice": (AB + "b(x) :- a(x, _y), a(_y, x).", ["W204"]),
    "once in each alternative": (AB + "b(x) :- a(x, y) ; a(y, x).", ["W203"]),
    "twice in one alternative": (AB + "b(x) :- a(x, y), a(y, x) ; a(y, x), b(x).", []),
    "in one of two heads": (AB + ".decl c(x: number) .output c b(x), c(y) :- a(x, y).", []),
    "no rules": (".decl r(x: number) .output r", ["W201"]),
    "never used": (".decl r(x: number) r(1).", ["W202"]),
    "read by a negation": (AB + ".decl r(x: number) r(1). b(x) :- a(x, _), !r(x).", []),
    "read by an aggregate": (AB + ".decl r(x: number) r(1). b(n) :- n = count : { r(_) }, a(_, _).", []),
    "suppressed by name": ('.pragma "suppress-warnings" "r,s" .decl r(x: number) .decl s(x: number)', []),
    "suppressed all": ('.pragma "suppress-warnings" "*" ' + AB + "b(x) :- a(x, y).", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_warnings(text: str, expected: list[str]) -> None:
    assert warnings(text) == expected

"""Type declarations: what they mean, and mistakes in them."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, errors

from flintlog.check.typing import declare_types
from flintlog.diagnostics import Report
from flintlog.syntax import ast
from flintlog.types import AdtType, Kind, RecordType, ScalarType

RIGHT = {
    "subset": ".type A <: number",
    "subset of a subset": ".type A <: number .type B <: A",
    "alias": ".type A = number",
    "alias declared later": ".type A = B .type B <: symbol",
    "union": ".type A <: symbol .type B <: symbol .type C = A | B",
    "union with a primitive": ".type A <: symbol .type C = A | symbol",
    "union of unions": ".type A <: float .type C = A | float .type D = C | A",
    "recursive record": ".type L = [head: number, tail: L]",
    "records that refer to each other": ".type A = [b: B] .type B = [a: A]",
    "empty record": ".type E = []",
    "algebraic data type": ".type T = Leaf {} | Node {l: T, x: number, r: T}",
    "two fields of one name in a branch": ".type T = Leaf {x: number, x: number}",
    "subset of an algebraic data type": ".type T = A {} .type S <: T",
    "a sized type": ".type A <: int32",
    "a name of its own where a sized type has one": ".type string = [x: number]",
    "old style": ".number_type N .symbol_type S",
}

WRONG = {
    ".type A <: Nothing": "E272",
    ".type A = Nothing": "E272",
    ".type A <: number .type B = A | Nothing": "E272",
    ".type A = [x: Nothing]": "E272",
    ".type A = B {x: Nothing}": "E272",
    ".type A <: A": "E273",
    ".type A = B .type B = A": "E273",
    ".type A = B | number .type B <: A": "E273",
    ".type number <: symbol": "E271",
    ".type A = number | symbol": "E274",
    ".type A <: number .type B <: unsigned .type C = A | B": "E274",
    ".type R = [x: number] .type U = R | number": "E275",
    ".type T = B {} .type U = T | number": "E275",
    ".type A = number | float": "E274",
    ".type A <: number .type B <: number .type C = A | B .type D <: C": "E276",
    ".type R = [x: number] .type S <: R": "E277",
    ".type R = [x: number, x: symbol]": "E278",
    ".type T = A {} | A {}": "E279",
    ".type T = A {} .type S = A {}": "E279",
    ".type A <: number .type A <: symbol": "E204",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_accepts(text):
    assert errors(text) == []


@pytest.mark.parametrize(("text", "code"), WRONG.items())
def test_rejects(text, code):
    assert code in errors(text)


def test_table():
    types = checked(
        ".type A <: number .type B = A .type R = [x: B] .type Q = R .type T = L {} | N {q: Q} .type S <: int32"
    ).types
    assert types["A"] == ScalarType("A", Kind.NUMBER)
    assert types["B"] == ScalarType("B", Kind.NUMBER)
    assert types["S"] == ScalarType("S", Kind.NUMBER, 32)
    assert isinstance(types["R"], RecordType)
    assert types["Q"] is types["R"]
    assert isinstance(types["T"], AdtType)
    assert [b.name for b in types["T"].branches] == ["L", "N"]
    assert types["symbol"].kind is Kind.SYMBOL


def test_duplicates_point_at_the_first():
    report = Report()
    env = declare_types([ast.SubsetType("A", "number"), ast.SubsetType("A", "symbol")], report)
    assert [d.code for d in report.errors] == ["E204"]
    assert report.errors[0].labels
    assert not env.is_sound


def test_unknown_type_offers_a_name():
    report = Report()
    declare_types([ast.SubsetType("Person", "symbol"), ast.UnionType("P", ("Persn",))], report)
    assert report.errors[0].note == "did you mean `Person`?"

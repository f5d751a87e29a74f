"""After a mistake of syntax the checks go on, and say nothing about what the lost items would have declared."""

import pytest
from tests.unit.check.checking import diagnose, errors


@pytest.mark.parametrize(
    "text",
    [
        ".decl a(x number)\na(1).\n.output a\n.decl d = debug_delta(a)\nd(1, 2u).",
        ".type T = [x number]\n.decl a(x: T)\na([1]).\na(nil).",
        ".type T = A { x }\n.decl a(x: T)\na($A(1)).",
        ".functor f(number) number\n.decl a(x: number)\na(@f(1)).",
        ".comp C<T { }\n.comp D : C { .decl r(x: number) }\n.init c = C<number>\n.init d = D\nc.a(1).\nd.r(1).",
        ".comp C {\n.decl a(x number)\n}\n.init c = C\nc.a(1).",
        '.include "missing.dl"\na(X) :- b(X).\n.output a',
        ".decl a(x: number) btree_delete\n.output a\na(1) <= a(2).",
        "#define\n.decl a(x: number)\na(MACRO).",
    ],
)
def test_what_follows_from_a_lost_item_is_not_reported(text: str):
    assert [d.render() for d in diagnose(text)[1:]] == []


def test_nothing_is_called_unused_when_rules_are_lost():
    assert [d.code for d in diagnose(".decl a(x: number)\na(1 2).")] == ["E101"]


def test_other_mistakes_are_reported():
    assert errors(".decl a(x number)\n.decl b(x: number)\nb(x) :- c(x).\nb(y) :- b(_).") == ["E101", "E201", "E401"]


def test_only_the_instances_of_wrong_components_are_missing():
    text = ".comp A<T> { .decl e(x: T) }\n.comp B : A { }\n.init b = B\n.init a = A<number>\n"
    assert errors(text + 'b.e(1).\na.e("x").\na.f(1).') == ["E241", "E304", "E201"]


def test_an_unknown_observed_relation_is_reported_once():
    assert errors(".decl d = debug_delta(pth)\n.decl a(x: number)\na(x) :- d(x, _).") == ["E225"]

import pytest
from tests.unit.syntax.reading import body, item, items, problems

from flintlog.syntax import ast

X, Y = ast.Variable("x"), ast.Variable("y")
A, B, C = ast.Atom("a", (X,)), ast.Atom("b", ()), ast.Atom("c.d", (Y,))
ONE = ast.NumberLit("1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(x), b()", ast.Conjunction((A, B))),
        ("a(x), b() ; c.d(y)", ast.Disjunction((ast.Conjunction((A, B)), C))),
        ("a(x), (b() ; c.d(y))", ast.Conjunction((A, ast.Disjunction((B, C))))),
        ("(a(x))", A),
        ("!a(x)", ast.Negation(A)),
        ("!(a(x), b())", ast.Negation(ast.Conjunction((A, B)))),
        ("!!a(x)", ast.Negation(ast.Negation(A))),
        ("x < y", ast.Constraint("<", X, Y)),
        ("!x = y", ast.Negation(ast.Constraint("=", X, Y))),
        ("((x)) = y", ast.Constraint("=", X, Y)),
        ("((x) = y)", ast.Constraint("=", X, Y)),
        ("(x + 1) * 1 >= y", ast.Constraint(">=", ast.Functor("*", (ast.Functor("+", (X, ONE)), ONE)), Y)),
        ("(as(x, c.T)) = y", ast.Constraint("=", ast.Cast(X, "c.T"), Y)),
        ("match(x, y)", ast.Constraint("match", X, Y)),
        ("contains(x, y)", ast.Constraint("contains", X, Y)),
        ("true, false", ast.Conjunction((ast.BoolLit(True), ast.BoolLit(False)))),
        ("True, False = x", ast.Conjunction((ast.BoolLit(True), ast.Constraint("=", ast.Variable("False"), X)))),
        ("itou(x) = y", ast.Constraint("=", ast.Functor("itou", (X,)), Y)),
        ("itou(x)", ast.Atom("itou", (X,))),
        ("x = -1", ast.Constraint("=", X, ast.NumberLit("-1"))),
        ("x<-1", ast.Constraint("<", X, ast.NumberLit("-1"))),
    ],
)
def test_bodies(text, expected):
    assert body(text) == expected


def test_facts_rules_and_subsumption():
    assert items("a(x). a(x), b() :- c.d(y). a(x); b() :- c.d(y). a(x) <= a(y) :- b().") == (
        ast.Rule((A,)),
        ast.Rule((A, B), C),
        ast.Rule((A, B), C),
        ast.Subsumption(A, ast.Atom("a", (Y,)), B),
    )


def test_a_rule_and_the_next_without_a_space():
    assert items("a(x) :- x = 1.b() :- x = y.c.d(y).") == (
        ast.Rule((A,), ast.Constraint("=", X, ONE)),
        ast.Rule((B,), ast.Constraint("=", X, Y)),
        ast.Rule((C,)),
    )


def test_plans():
    rule = item("a(x) :- b().\n.plan 0: (2, 1), 1: ()")
    assert isinstance(rule, ast.Rule)
    assert rule.plan == ast.Plan(((0, (2, 1)), (1, ())))
    subsumption = item("a(x) <= a(y) :- b(). .plan 0: (1)")
    assert isinstance(subsumption, ast.Subsumption)
    assert subsumption.plan == ast.Plan(((0, (1,)),))
    assert items("a(x) :- b(). .plan\nb().") == (ast.Rule((A,), B), ast.Rule((B,)))


def test_annotations_are_left_out():
    assert items("@[key = {1, [x]}] @[other] a(x) :- @![inner(1)] b().\n@[x] .decl r(@[k] x: number)") == (
        ast.Rule((A,), B),
        ast.RelationDecl("r", (ast.Attribute("x", "number"),)),
    )


def test_spans():
    rule = item("  a(x) :-\n    c.d(y).")
    assert isinstance(rule, ast.Rule)
    assert isinstance(rule.body, ast.Atom)
    assert rule.span.text == "a(x) :-\n    c.d(y)."
    assert (rule.body.name_span.text, rule.body.span.text) == ("c.d", "c.d(y)")
    assert (rule.body.span.line, rule.body.span.column) == (2, 5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a(x) :- b() c().", ("E101", 1, 13)),
        ("a(x) : - b().", ("E101", 1, 6)),
        ("a(x) <- b().", ("E101", 1, 6)),
        ("a(x) :- x == 1.", ("E101", 1, 12)),
        ("a(x) :- not b().", ("E101", 1, 13)),
        ("a(x) :- b.", ("E101", 1, 10)),
        ("a(x) :- b.\nc() :- d().", ("E101", 1, 10)),
        ("a(x) :- 1 < x < 3.", ("E101", 1, 15)),
        ("a(x), b().", ("E101", 1, 10)),
        ("a(x)..", ("E101", 1, 6)),
        ("a(x) :- .", ("E101", 1, 9)),
        ("a(x) <= a(y).", ("E101", 1, 13)),
        ("a(x)) :- b().", ("E101", 1, 5)),
        ("a(x :- b().", ("E101", 1, 5)),
        ("sum(x) :- b().", ("E109", 1, 1)),
        ("a(x).\n.plan 0: (1)", ("E125", 2, 1)),
        ("a(x) :- b().\n.plan 0 (1)", ("E101", 2, 9)),
        (":- b().", ("E101", 1, 1)),
    ],
)
def test_mistakes(text, expected):
    assert problems(text) == [expected]


@pytest.mark.parametrize("next_item", ["b(1).", ".decl b()", "", "b() :- a(1)."])
def test_a_missing_dot_is_shown_where_it_belongs(next_item):
    assert problems(f"a(x) :- c(x)\n\n{next_item}") == [("E108", 1, 13)]

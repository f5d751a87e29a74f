"""Components: what an instance contains, which names get its prefix, and what is rejected."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, errors, relation_names, warnings

ACCEPTED = {
    "an instance": ".comp C { .decl r(x: number) r(1). } .init c = C .output c.r",
    "two instances": ".comp C { .decl r(x: number) r(1). } .init a = C .init b = C .output a.r, b.r",
    "a type parameter": ".comp C<T> { .decl r(x: T) } .init c = C<number> c.r(1). .output c.r",
    "a parameter handed on": '.comp B<T> { .decl r(x: T) } .comp D<S> : B<S> { } .init d = D<symbol> d.r("a").',
    "an instance of a parameter": (
        ".comp One { .decl r(x: number) r(1). } .comp Use<T> { .init i = T .decl s(x: number) s(x) :- i.r(x). }"
        " .init u = Use<One> .output u.s"
    ),
    "an outer relation": ".decl e(x: number) e(1). .comp C { .decl r(x: number) r(x) :- e(x). } .init c = C",
    "a rule for an outer relation": ".decl e(x: number) .comp C { .decl r(x: number) r(1). e(x) :- r(x). } .init c = C",
    "a rule for a relation of a derived component": (
        ".comp B { .decl s(x: number) s(1). r(x) :- s(x). } .comp D : B { .decl r(x: number) } .init d = D .output d.r"
    ),
    "an override": (
        ".comp B { .decl r(x: number) overridable r(1). } .comp D : B { .override r r(2). } .init d = D .output d.r"
    ),
    "two bases": (
        ".comp A { .decl a(x: number) } .comp B { .decl b(x: number) }"
        " .comp C : A, B { a(1). b(x) :- a(x). } .init c = C"
    ),
    "a nested component": ".comp A { .comp B { .decl r(x: number) r(1). } .init b = B } .init a = A .output a.b.r",
    "a nested component of a base": ".comp A { .comp B { .decl r() r(). } } .comp C : A { .init b = B } .init c = C",
    "types inside": (
        ".comp C { .type T <: number .decl r(x: T) r(as(1, T)). } .init c = C .decl s(x: c.T) s(x) :- c.r(x)."
    ),
    "branches inside": ".comp C { .type L = N {} | K {x: number} .decl r(x: L) r($K(1)). } .init c = C",
    "a directive inside": ".comp C { .decl r(x: number) r(1). .output r } .init c = C",
    "old qualifiers inside": ".comp C { .decl r(x: number) output r(1). } .init c = C",
    "never instantiated, with a mistake": ".comp C { .decl r(x: number) r(x) :- nothing(x). }",
    "an unknown type argument that is not used": ".comp C<T> { .decl r() r(). } .init c = C<Whatever>",
}

REJECTED = {
    "unknown component": (".init c = C", "E240"),
    "unknown base": (".comp D : B { }", "E240"),
    "unknown nested": (".comp D { .init b = B }", "E240"),
    "too few type arguments": (".comp C<T> { } .init c = C", "E241"),
    "too many type arguments": (".comp C { } .init c = C<number>", "E241"),
    "wrong number for a base": (".comp B<T> { } .comp C : B { }", "E241"),
    "its own base": (".comp C : C { }", "E242"),
    "its own instance": (".comp C { .init c = C } .init c = C", "E243"),
    "instances of one another": (".comp A { .init b = B } .comp B { .init a = A } .init a = A", "E243"),
    "override of an own relation": (".comp C { .decl r(x: number) overridable .override r }", "E244"),
    "override of a fixed relation": (".comp B { .decl r(x: number) } .comp C : B { .override r }", "E245"),
    "two components of a name": (".comp C { } .comp C { }", "E246"),
    "component and relation": (".decl C() .comp C { }", "E246"),
    "component and type": (".type C <: number .comp C { }", "E246"),
    "two instances of a name": (".comp C { } .init c = C .init c = C", "E247"),
    "instance and relation": (".comp C { } .decl c() .init c = C", "E247"),
    "declared in base and derived": (
        ".comp B { .decl r(x: number) } .comp D : B { .decl r(x: number) } .init d = D",
        "E203",
    ),
    "a type twice": (".comp C { .type T <: number .type T <: symbol } .init c = C", "E204"),
    "two inputs": (".comp C { .decl r(x: number) .input r .input r } .init c = C", "E603"),
    "an undefined relation of an instance": (".comp C { } .init c = C .output c.r", "E601"),
    "an inner relation from outside, unqualified": (
        ".comp C { .decl r(x: number) r(1). } .init c = C .decl s(x: number) s(x) :- r(x).",
        "E201",
    ),
    "the parameter of the component around": (
        ".comp A<T> { .comp B { .decl r(x: T) } .init b = B } .init a = A<number>",
        "E209",
    ),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_rejects(text: str, code: str) -> None:
    assert set(errors(text)) == {code}


def test_cycle_of_inheritance_is_reported_once() -> None:
    assert errors(".comp A : B { } .comp B : A { } .init a = A") == ["E242"]


def test_names_of_nested_instances() -> None:
    program = checked(
        ".comp In { .decl r(x: number) } .comp Out { .init i = In .decl s(x: number) s(x) :- i.r(x). }"
        " .init a = Out .init b = Out a.i.r(1)."
    )
    assert sorted(relation_names(program)) == ["a.i.r", "a.s", "b.i.r", "b.s"]
    assert sorted(c.head.name for c in program.clauses) == ["a.i.r", "a.s", "b.s"]
    body = next(c for c in program.clauses if c.head.name == "b.s").body
    assert [atom.name for atom in body] == ["b.i.r"]  # type: ignore[union-attr]


def test_override_drops_the_rules_of_the_base_only() -> None:
    program = checked(
        ".comp B { .decl r(x: number) overridable r(1). r(2). } .comp D : B { .override r r(3). }"
        " .init d = D .init b = B .output d.r, b.r"
    )
    assert [c.head.name for c in program.clauses].count("d.r") == 1
    assert [c.head.name for c in program.clauses].count("b.r") == 2


def test_instances_share_no_nodes_and_keep_the_number_of_their_rule() -> None:
    program = checked(".comp C { .decl r(x: number) r(1). } .init a = C .init b = C .output a.r, b.r")
    first, second = program.clauses
    assert first.head.args[0] is not second.head.args[0]
    assert first.origin == second.origin


def test_directives_are_qualified() -> None:
    program = checked('.comp C { .decl r(x: number) r(1). .output r(filename="x") } .init a = C .init b = C')
    assert [(d.kind, d.relation) for d in program.directives] == [("output", "a.r"), ("output", "b.r")]


def test_types_of_instances_are_their_own() -> None:
    program = checked(".comp C { .type T <: number .decl r(x: T) } .init a = C a.r(1).")
    assert program.relations["a.r"].attributes[0].type == "a.T"


def test_an_override_without_effect_is_a_warning() -> None:
    text = ".comp B { .decl r() r(). } .comp D : B { .override s } .init d = D .output d.r"
    assert warnings(text) == ["W207"]


def test_an_instance_of_a_parameter_that_is_no_component_is_empty() -> None:
    assert warnings(".comp C<T> { .init x = T } .init c = C<number>") == ["W212"]

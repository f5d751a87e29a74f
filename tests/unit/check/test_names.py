"""Names and declarations: what is rejected, and what Soufflé lets pass."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, diagnose, errors, warnings

A = ".decl a(x: number) a(1). "
AB = ".decl a(x: number, y: number) .decl b(x: number) b(1). "

ACCEPTED = {
    "underscore in a record pattern": (
        ".type P = [x: number, y: number] .decl p(x: P) .decl q(x: number) q(x) :- p(v), v = [x, _]."
    ),
    "underscore in a branch pattern": ".type T = K {x: number} .decl p(x: T) .decl q() q() :- p(v), v = $K(_).",
    "underscore in an aggregate": A + ".decl n(x: number) n(c) :- c = count : { a(_) }.",
    "a fact with arithmetic": ".decl r(x: number) r(1 + 2 * 3).",
    "a fact with range": ".decl r(x: number) r(range(1, 5)).",
    "a fact with an aggregate": A + ".decl r(x: number) r(count : { a(_) }).",
    "counter in a rule": A + ".decl r(x: number, y: number) r(autoinc(), x) :- a(x).",
    "choice-domain": ".decl r(x: number, y: number) choice-domain x, (x, y) r(1, 2).",
    "equivalence relation": ".decl e(x: number, y: number) eqrel e(1, 2).",
    "subsumption": ".decl r(x: number, y: number) r(1, 2). r(x, y) <= r(x, z) :- z < y.",
    "subsumption with btree_delete": ".decl r(x: number) btree_delete r(1). r(x) <= r(y) :- x < y.",
    "subsumption with underscore": ".decl r(x: number, y: number) r(1, 2). r(x, _) <= r(y, _) :- x < y.",
    "inline and no_inline": ".decl r(x: number) inline no_inline r(1).",
    "functor and relation of one name": ".functor f(x: number): number .decl f(x: number) f(1).",
    "functor": ".functor f(number): number .decl r(x: number) r(@f(1)).",
    "debug_delta": ".decl a(x: number) a(1). a(x + 1) :- a(x), x < 5. .decl d = debug_delta(a) .output d",
    "old directive qualifiers": ".decl r(x: number) input output",
}

REJECTED = {
    "undefined relation in a body": (".decl b(x: number) b(x) :- a(x).", "E201"),
    "undefined relation in a head": (".decl b(x: number) b(1). a(x) :- b(x).", "E201"),
    "undefined relation under negation": (A + ".decl b(x: number) b(x) :- a(x), !c(x).", "E201"),
    "undefined relation in an aggregate": (".decl b(x: number) b(c) :- c = count : { a(_) }.", "E201"),
    "too many arguments": (A + "a(1, 2).", "E202"),
    "too few arguments": (AB + "b(x) :- a(x).", "E202"),
    "arguments of a nullary relation": (".decl n() n(1).", "E202"),
    "relation twice": (A + ".decl a(x: symbol)", "E203"),
    "type twice": (".type T <: number .type T <: symbol", "E204"),
    "attribute twice": (".decl r(x: number, x: number)", "E205"),
    "functor twice": (".functor f(number): number .functor f(symbol): number", "E206"),
    "type and relation": (".type r <: number .decl r(x: number)", "E207"),
    "undefined functor": (".decl r(x: number) r(@f(1)).", "E208"),
    "undefined functor inside a record": (".type P = [x: number] .decl r(x: P) r([@f(1)]).", "E208"),
    "undefined type": (".decl r(x: numbr)", "E209"),
    "undefined type of a functor": (".functor f(numbr): number", "E209"),
    "underscore in a head": (A + ".decl b(x: number) b(_) :- a(_).", "E210"),
    "underscore inside a head's record": (".type P = [x: number] " + A + ".decl b(x: P) b([_]) :- a(_).", "E210"),
    "underscore in a constraint": (A + ".decl b(x: number) b(x) :- a(x), x > _.", "E211"),
    "underscore as the target of an aggregate": (A + ".decl b(x: number) b(x) :- x = sum _ : { a(_) }.", "E238"),
    "underscore in the target of an aggregate": (A + ".decl b(x: number) b(x) :- x = sum 1 + _ : { a(_) }.", "E238"),
    "underscore in a functor of a constraint": (A + ".decl b(x: number) b(x) :- a(x), x = 1 + _.", "E211"),
    "variable in a fact": (".decl r(x: number) r(x).", "E212"),
    "counter in a fact": (".decl r(x: number) r(autoinc()).", "E212"),
    "counter in a recursive rule": (
        ".decl r(x: number, y: number) r(0, 0). r(autoinc(), x) :- r(x, _).",
        "E213",
    ),
    "counter in a mutually recursive rule": (
        ".decl p(x: number) .decl q(x: number) p(0). p(x) :- q(x). q(autoinc()) :- p(_).",
        "E213",
    ),
    "unknown key of a choice-domain": (".decl r(x: number) choice-domain y", "E214"),
    "ternary equivalence relation": (".decl e(x: number, y: number, z: number) eqrel", "E215"),
    "unary equivalence relation": (".decl e(x: number) eqrel", "E215"),
    "equivalence over two types": (".decl e(x: number, y: symbol) eqrel", "E216"),
    "subsumption across relations": (
        ".decl a(x: number) .decl b(x: number) a(1). b(1). a(x) <= b(y) :- x < y.",
        "E217",
    ),
    "subsumption of a brie": (".decl r(x: number) brie r(1). r(x) <= r(y) :- x < y.", "E218"),
    "subsumption of a btree": (".decl r(x: number) btree r(1). r(x) <= r(y) :- x < y.", "E218"),
    "nullary btree_delete": (".decl r() btree_delete", "E219"),
    "nullary subsumption": (".decl r() r(). r() <= r() :- true.", "E219"),
    "lattice attribute without lattice": (".decl r(x: number, y: number<>)", "E221"),
    "lattice without Lub": (".lattice number<> { Bottom -> 0 } .decl r(x: number<>)", "E222"),
    "lattice with an undefined functor": (
        ".lattice number<> { Bottom -> 0, Lub -> @f(_, _) } .decl r(x: number<>)",
        "E208",
    ),
    "two lattices of a type": (".lattice number<> { Bottom -> 0 } .lattice number<> { Bottom -> 1 }", "E223"),
    "debug_delta of nothing": (".decl d = debug_delta(a)", "E225"),
    "a rule for a delta": (A + ".decl d = debug_delta(a) d(1, 1).", "E226"),
    "an input of a delta": (A + ".decl d = debug_delta(a) .input d", "E226"),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_rejects(text: str, code: str) -> None:
    assert set(errors(text)) == {code}


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_every_error_says_how_to_mend_it(text: str, code: str) -> None:
    assert all(d.note for d in diagnose(text) if d.code == code)


def test_offers_the_name_that_was_meant() -> None:
    text = ".decl edge(x: number) edge(1). .decl r(x: number) r(x) :- egde(x)."
    assert [d.note for d in diagnose(text) if d.is_error] == ["did you mean `edge`?"]


def test_shows_the_declaration_of_a_relation_with_another_arity() -> None:
    [found] = [d for d in diagnose(A + "a(1, 2).") if d.is_error]
    assert found.labels[0].span.line == 1


def test_reports_all_mistakes_at_once() -> None:
    assert errors(".decl r(x: number) r(x). r(_) :- s(x). r(1, 2).") == ["E212", "E210", "E201", "E202"]


def test_types_of_sound_rules_are_checked_beside_a_wrong_one() -> None:
    found = errors('.decl r(x: number) r(x) :- s(x). r("a").')
    assert "E201" in found
    assert any(code.startswith("E3") for code in found)


def test_a_delta_has_the_observed_attributes_and_the_round() -> None:
    program = checked(ACCEPTED["debug_delta"])
    assert [a.type for a in program.relations["d"].attributes] == ["number", "unsigned"]


def test_subsumption_chooses_the_representation() -> None:
    assert checked(ACCEPTED["subsumption"]).relations["r"].representation == "btree_delete"


def test_choice_domains_are_positions() -> None:
    assert checked(ACCEPTED["choice-domain"]).relations["r"].choice_domains == ((0,), (0, 1))


def test_btree_delete_without_subsumption_is_a_warning() -> None:
    assert warnings(".decl r(x: number) btree_delete r(1). .output r") == ["W206"]


def test_old_directive_qualifiers_are_directives() -> None:
    program = checked(".decl r(x: number) input printsize")
    assert [(d.kind, d.relation) for d in program.directives] == [("input", "r"), ("printsize", "r")]


def test_contradicting_qualifiers_are_a_warning() -> None:
    assert "W211" in warnings(".decl r(x: number) magic no_magic r(1). .output r")

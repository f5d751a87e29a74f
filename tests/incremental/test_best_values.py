"""Strata that keep the smallest or largest value of each key, after any script of updates."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.incremental.states import Database, assert_equation, flattened_of

INPUTS = """
    .decl e(x: number, y: number, w: number)
    .decl s(x: number)
    .decl b(x: number)
"""
# What is kept row by row. Weights are not negative, so that everything comes to an end.
KEPT = {
    "shortest paths": """
        .decl d(x: number, c: number)
        d(x, MIN(0)) :- s(x).
        d(y, MIN(c + w)) :- d(x, c), e(x, y, w).
        .decl far(x: number)
        far(x) :- d(x, c), c > 2, !b(x).
    """,
    "labels, which go round in circles": """
        .decl d(x: number, c: number)
        d(x, MIN(x)) :- e(x, _, _).
        d(y, MIN(c)) :- d(x, c), e(x, y, _).
        d(x, MIN(c)) :- d(y, c), e(x, y, _).
    """,
    "with conditions and absences": """
        .decl d(x: number, c: number)
        d(x, MIN(w)) :- s(x), e(x, _, w).
        d(y, MIN(v)) :- d(x, c), e(x, y, w), !b(y), c < 4, v = w + c - 0.
    """,
    "the longest, going down": """
        .decl d(x: number, c: number)
        d(x, MAX(10)) :- s(x).
        d(y, MAX(c - w)) :- d(x, c), e(x, y, w), c > 4.
    """,
    "one value": """
        .decl d(c: number)
        d(MAX(w)) :- e(_, _, w), !b(w).
    """,
    "by subsumption": """
        .decl d(x: number, c: number)
        d(x, 0) :- s(x).
        d(y, c + w) :- d(x, c), e(x, y, w).
        d(x, c) <= d(x, a) :- a < c.
    """,
}
# What is not: a value that is worse may give one that is better, or just as good.
COMPUTED_AGAIN = {
    "it stays the same": "d(x, MIN(0)) :- s(x). d(y, MIN(max(c, 1))) :- d(x, c), e(x, y, _).",
    "it turns round": "d(x, MIN(0)) :- s(x). d(y, MIN(3 - c)) :- d(x, c), e(x, y, _), c < 3.",
    "it is asked for": "d(x, MIN(0)) :- s(x). d(y, MIN(c + w)) :- d(x, c), e(x, y, w), c != 1.",
    "it is a key": "d(x, MIN(0)) :- s(x). d(c, MIN(c + w)) :- d(_, c), e(_, _, w), c < 3.",
}

_node, _weight = st.integers(0, 4), st.integers(0, 3)
_facts = st.fixed_dictionaries(
    {
        "e": st.sets(st.tuples(_node, _node, _weight), max_size=6),
        "s": st.sets(st.tuples(_node), max_size=2),
        "b": st.sets(st.tuples(_node), max_size=1),
        "d": st.sets(st.tuples(_node, _weight), max_size=2),
    }
)
_scripts = st.lists(_facts, min_size=2, max_size=6)
FAST = settings(suppress_health_check=[HealthCheck.too_slow])
SLOW = settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def follow(rules: str, epochs: list[dict[str, set[tuple[int, ...]]]]) -> None:
    text = INPUTS + rules
    width = 1 if "d(c: number)" in text else 2
    epochs = [{**facts, "d": {row[:width] for row in facts["d"]}} for facts in epochs]
    facts, database = epochs[0], Database(text, epochs[0])
    for flipped in epochs[1:]:
        note(f"{flipped}")
        deleted = {name: rows & facts[name] for name, rows in flipped.items()}
        inserted = {name: rows - facts[name] for name, rows in flipped.items()}
        facts = {name: rows ^ flipped[name] for name, rows in facts.items()}
        database.change(deleted, inserted, keep=False)
        database.change(deleted, inserted)
        assert_equation(database)


@pytest.mark.parametrize("rules", KEPT.values(), ids=KEPT)
@given(epochs=_scripts)
@FAST
def test_best_values_are_kept(rules: str, epochs: list[dict[str, set[tuple[int, ...]]]]) -> None:
    follow(rules, epochs)


@pytest.mark.slow
@pytest.mark.parametrize("rules", KEPT.values(), ids=KEPT)
@given(epochs=_scripts)
@SLOW
def test_best_values_are_kept_at_length(rules: str, epochs: list[dict[str, set[tuple[int, ...]]]]) -> None:
    follow(rules, epochs)


@pytest.mark.parametrize("rules", KEPT.values(), ids=KEPT)
def test_they_are_not_computed_again(rules: str) -> None:
    [part] = [part for part in flattened_of(INPUTS + rules).parts if part.stratum.relations == ("d",)]
    assert part.best is not None
    assert part.again == ""


@pytest.mark.parametrize("rules", COMPUTED_AGAIN.values(), ids=COMPUTED_AGAIN)
def test_others_are(rules: str) -> None:
    [part] = [
        part
        for part in flattened_of(f"{INPUTS} .decl d(x: number, c: number) {rules}").parts
        if part.stratum.relations == ("d",)
    ]
    assert part.again == "an aggregate or a lattice merges rows of d"


def test_the_smallest_number_is_not_the_largest() -> None:
    text = ".decl a(x: number, v: number) .decl d(x: number, v: number) d(x, MAX(v)) :- a(x, v)."
    database = Database(text, {"a": [(1, 5)]})
    database.change({}, {"a": [(1, -(2**63))]})
    assert database.rows("d") == {(1, 5)}


def test_values_that_may_wrap_around_are_computed_again() -> None:
    database = Database(INPUTS + KEPT["shortest paths"], {"e": [(1, 2, 5)], "d": [(1, 2**63 - 3)]})
    database.change({}, {"d": [(1, 4)]})
    assert "too large" in database.recomputed["d"]
    assert_equation(database)


def test_values_that_have_wrapped_around_for_a_while_only_are_computed_again() -> None:
    """A row was made of one that a better one took the place of: no range of what is there tells."""
    edges, given = {(0, 1, 0), (1, 2, 1)}, {(0, 5), (1, 2**63 - 1)}
    database = Database(INPUTS + KEPT["shortest paths"], {"e": edges, "d": given})
    assert database.rows("d") == {(0, 5), (1, 5), (2, -(2**63))}
    assert_equation(database)
    database.change({"e": [(1, 2, 1)]}, {})
    assert database.rows("d") == {(0, 5), (1, 5)}
    assert_equation(database)


def test_wide_keys_are_planned_for_in_the_middle_of_a_round() -> None:
    """A rule comes to rows that another one has just found: more keys are known than there are rows to see."""
    large = 2**62
    rules = f"""
        .decl d(x: number, k: number, v: number)
        d(0, {large}, MIN(0)) :- true.
        d(1, {-large}, MIN(0)) :- true.
        d(y, k, MIN(v + 1)) :- d(x, k, v), f(x, y).
        d(y, k, MIN(v + 2)) :- d(x, k, v), f(y, x), f(x, z), z != y, z + y < 9999999.
    """
    edges = [(0, 2), (0, 3), (0, 4), (0, 5), (1, 6), (6, 7), (7, 8)]
    database = Database(".decl f(x: number, y: number) .input f" + rules, {"f": edges})
    assert len(database.rows("d")) == 9
    assert_equation(database)


@given(epochs=_scripts)
@FAST
def test_others_are_right_too(epochs: list[dict[str, set[tuple[int, ...]]]]) -> None:
    follow(".decl d(x: number, c: number)" + COMPUTED_AGAIN["it stays the same"], epochs)

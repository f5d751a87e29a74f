"""Recursion of shapes that random programs seldom have, over facts that are dense enough for all of it to happen."""

from __future__ import annotations

from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.incremental.states import Database, assert_equation

from flintlog.incremental.upkeep import STRATEGIES, Upkeep

SHAPES = {
    "rows that are looked up in the round they come in": """
        q(x, y) :- p(x, y).
        q(x, z) :- q(x, y), q(y, z).
        q(x, z) :- c(y, w, z), q(x, w), q(x, y).
    """,
    "two relations, one through the other": """
        q(x, y) :- p(x, y).
        r(x, z) :- q(x, y), q(y, z), q(z, x).
        q(y, x) :- r(x, z), c(x, y, z).
        r(x, x) :- r(x, y), r(y, x), q(x, y).
    """,
    "the same row twice": """
        q(x, y) :- p(x, y).
        q(x, x) :- q(x, y), q(x, y), q(y, x).
        q(x, y) :- q(x, x), q(y, y), c(x, y, _).
    """,
    "constants in atoms": """
        q(x, 1) :- p(x, _).
        q(x, y) :- q(x, 1), q(1, y), q(y, y).
        q(y, x) :- p(x, y), q(x, x).
    """,
    "rules without an atom": """
        q(x, 0) :- x = range(0, 3).
        q(1 + 1, 3).
        r(x, y) :- q(x, y), p(y, x).
        q(x, y) :- x = range(0, 2), y = range(1, 3), !p(x, y).
    """,
    "several strata read one relation": """
        q(x, y) :- p(x, y).
        q(x, z) :- q(x, y), q(y, z), c(x, _, z).
        r(x, n) :- p(x, _), n = count : { q(x, _) }.
        t(x) :- q(x, y), !r(y, 1).
        t(n) :- n = sum y : { q(_, y) }, n < 4.
    """,
    "below and above": """
        q(x, y) :- p(x, y), !c(x, y, _).
        q(x, z) :- q(x, y), q(y, z), !c(x, y, z).
        r(x, n) :- p(x, _), n = count : { q(x, _) }.
        r(x, x) :- r(x, n), q(x, n), !q(n, x).
    """,
}
DECLARATIONS = """
    .decl p(x: number, y: number)
    .decl c(x: number, y: number, z: number)
    .decl q(x: number, y: number)
    .decl r(x: number, y: number)
    .decl t(x: number)
"""
_node = st.integers(0, 3)
_epochs = st.lists(
    st.fixed_dictionaries(
        {
            "p": st.sets(st.tuples(_node, _node), min_size=1, max_size=6),
            "c": st.sets(st.tuples(_node, _node, _node), max_size=6),
            "q": st.sets(st.tuples(_node, _node), max_size=1),
        }
    ),
    min_size=2,
    max_size=5,
)
_strategies = st.sampled_from([name for name in STRATEGIES if name != "bootstrap"])
FAST = settings(suppress_health_check=[HealthCheck.too_slow])
SLOW = settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])

Facts = dict[str, set[tuple[int, ...]]]


def follow(rules: str, epochs: list[Facts], strategy: str) -> None:
    facts, database = epochs[0], Database(DECLARATIONS + rules, epochs[0])
    assert_equation(database)
    for flipped in epochs[1:]:
        note(f"{flipped} {strategy}")
        deleted = {name: rows & facts[name] for name, rows in flipped.items()}
        inserted = {name: rows - facts[name] for name, rows in flipped.items()}
        facts = {name: rows ^ flipped[name] for name, rows in facts.items()}
        database.change(deleted, inserted, strategy=strategy)
        assert_equation(database)


@pytest.mark.parametrize("rules", SHAPES.values(), ids=SHAPES)
@given(epochs=_epochs, strategy=_strategies)
@FAST
def test_shapes(rules: str, epochs: list[Facts], strategy: str) -> None:
    follow(rules, epochs, strategy)


@pytest.mark.parametrize("rules", SHAPES.values(), ids=SHAPES)
@given(epochs=_epochs, chosen=st.lists(st.booleans(), min_size=1, max_size=12))
@FAST
def test_some_strata_are_computed_again(rules: str, epochs: list[Facts], chosen: list[bool]) -> None:
    """Others are updated in the same epoch; they share what they read."""
    again = cycle(chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Upkeep, "_why_again", lambda *_: "for a change" if next(again) else "")
        follow(rules, epochs, "update")


@pytest.mark.slow
@pytest.mark.parametrize("rules", SHAPES.values(), ids=SHAPES)
@given(epochs=_epochs, strategy=_strategies)
@SLOW
def test_shapes_at_length(rules: str, epochs: list[Facts], strategy: str) -> None:
    follow(rules, epochs, strategy)

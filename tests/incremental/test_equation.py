"""After any script of updates, a state equals a computation from nothing.

This is theorem 3.5 of "Towards Elastic Incrementalization for Datalog".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.incremental.states import Database, assert_equation, text_of
from tests.properties import brute_force
from tests.properties.brute_force import Row
from tests.properties.programs import programs

from flintlog.incremental.strategies.switch import Allowance, Meter, OverBudget
from flintlog.incremental.upkeep import STRATEGIES

_values = st.integers(0, len(brute_force.DOMAIN) - 1)
_facts = st.fixed_dictionaries(
    {
        "e": st.sets(st.tuples(_values, _values), max_size=4),
        "f": st.sets(st.tuples(_values), max_size=2),
    }
)
FAST = settings(suppress_health_check=[HealthCheck.too_slow])
SLOW = settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def scripts(draw: DrawFn) -> tuple[brute_force.Program, list[tuple[dict[str, set[Row]], list[int]]]]:
    """A program, and for every epoch the facts that are flipped and the rules that are: what is there goes, what is not
    comes."""
    program = draw(programs())
    count = sum(len(layer) for layer in program.layers)
    rules = st.lists(st.integers(0, count - 1), max_size=2, unique=True)
    return program, draw(st.lists(st.tuples(_facts, rules), min_size=1, max_size=5))


def without(program: brute_force.Program, gone: set[int]) -> brute_force.Program:
    """The program without some of its rules. The first of a relation stays, so that all relations are declared."""
    number, layers = 0, []
    for layer in program.layers:
        layers.append(tuple(rule for i, rule in enumerate(layer, number) if i == number or i not in gone))
        number += len(layer)
    return replace(program, layers=tuple(layers))


def follow(
    script: tuple[brute_force.Program, list[tuple[dict[str, set[Row]], list[int]]]],
    *,
    rules: bool,
    strategies: Sequence[str] = ("auto",),
) -> None:
    program, epochs = script
    note(program.text())
    database = Database(text_of(program), program.facts)
    facts, gone = {name: set(rows) for name, rows in program.facts.items()}, set[int]()
    for (flipped, rules_flipped), strategy in zip(epochs, cycle(strategies), strict=False):
        note(f"{flipped} {rules_flipped} {strategy}")
        deleted = {name: rows & facts[name] for name, rows in flipped.items()}
        inserted = {name: rows - facts[name] for name, rows in flipped.items()}
        gone ^= set(rules_flipped) if rules else set()
        facts = {name: rows ^ flipped[name] for name, rows in facts.items()}
        current = without(program, gone)
        text = text_of(current) if rules else None
        database.change(deleted, inserted, text, strategy, keep=False)
        database.change(deleted, inserted, text, strategy)
        expected = brute_force.evaluate(replace(current, facts=facts))
        assert {name: database.rows(name) for name in expected} == expected
        assert_equation(database)


@given(scripts())
@FAST
def test_facts_come_and_go(script: object) -> None:
    follow(script, rules=False)  # type: ignore[arg-type]


@given(scripts())
@FAST
def test_rules_come_and_go(script: object) -> None:
    follow(script, rules=True)  # type: ignore[arg-type]


_strategies = st.lists(st.sampled_from(STRATEGIES), min_size=5, max_size=5)


@pytest.mark.parametrize("strategy", ["update", "bootstrap", "dred", "counting"])
@given(script=scripts())
@FAST
def test_every_strategy(script: object, strategy: str) -> None:
    follow(script, rules=True, strategies=[strategy])  # type: ignore[arg-type]


@given(scripts(), _strategies)
@FAST
def test_strategies_take_turns(script: object, strategies: list[str]) -> None:
    follow(script, rules=True, strategies=strategies)  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [{"MOST_GONE": 1, "FEW": 0}, {"MOST_NEW": 0}], ids=["mostly gone", "computed again"])
@given(script=scripts(), strategies=_strategies)
@FAST
def test_rows_go_into_other_logs(script: object, strategies: list[str], bounds: dict[str, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, bound in bounds.items():
            patch.setattr(f"flintlog.incremental.rows.maintained_relation.{name}", bound)
        follow(script, rules=True, strategies=strategies)  # type: ignore[arg-type]


@given(scripts(), st.integers(0, 12))
@FAST
def test_updates_are_given_up_anywhere(script: object, patience: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Allowance, "begin", lambda *_: _Alarm(patience))
        follow(script, rules=True)  # type: ignore[arg-type]


class _Alarm(Meter):
    """The time is over after so many calls."""

    def __init__(self, calls: int) -> None:
        super().__init__(lambda: 0.0, 0.0)
        self._left = calls

    def __call__(self, instances: int) -> None:
        super().__call__(instances)
        self._left -= 1
        if self._left < 0:
            raise OverBudget


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["update", "dred", "counting"])
@given(script=scripts())
@SLOW
def test_facts_and_rules_come_and_go_at_length(script: object, strategy: str) -> None:
    follow(script, rules=True, strategies=[strategy])  # type: ignore[arg-type]


@pytest.mark.slow
@given(scripts(), _strategies)
@SLOW
def test_strategies_take_turns_at_length(script: object, strategies: list[str]) -> None:
    follow(script, rules=True, strategies=strategies)  # type: ignore[arg-type]

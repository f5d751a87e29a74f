"""When an update is tried, and when it is given up."""

from __future__ import annotations

from typing import Any

import pytest
from tests.incremental.states import Database, assert_equation

from flintlog.engines.local.plan import Plan, plan_query
from flintlog.incremental.rows import planner
from flintlog.incremental.rows.preparation import Preparation
from flintlog.incremental.strategies import switch
from flintlog.incremental.strategies.switch import Allowance, Outcome, OverBudget, Switch

TOTAL = 1_000_000
PATHS = """
    .decl e(x: number, y: number)
    .decl p(x: number, y: number)
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
"""
EDGES = [(i, i + 1) for i in range(200)]


def learned(*outcomes: tuple[int, bool]) -> Switch:
    result = Switch()
    for size, finished in outcomes:
        result.learned(Outcome(size, finished))
    return result


def test_small_updates_are_tried_and_large_ones_are_not() -> None:
    assert Switch().tries(10, TOTAL)
    assert not Switch().tries(TOTAL // 10, TOTAL)


def test_without_recursion_larger_ones_are() -> None:
    assert Switch().tries(TOTAL // 10, TOTAL, is_recursive=False)
    assert not Switch().tries(TOTAL // 2, TOTAL, is_recursive=False)


def test_one_failure_is_forgiven_and_two_are_not() -> None:
    assert learned((10, False)).tries(10, TOTAL)
    assert not learned((10, False), (10, False)).tries(10, TOTAL)
    assert learned((10, False), (10, False), (10, True), (10, True)).tries(10, TOTAL)


def test_a_failure_with_few_rows_says_much_about_many() -> None:
    assert not learned((10, False)).tries(5_000, TOTAL)
    assert learned((5_000, False), (5_000, False)).tries(10, TOTAL)


def test_what_succeeded_on_a_large_part_is_tried_again() -> None:
    assert learned((TOTAL // 10, True)).tries(TOTAL // 10, TOTAL)


def test_consequences_of_small_updates_say_what_large_ones_would_take() -> None:
    """Ten rows had to do with a million instances of rules, in a second; so a thousand would take a hundred seconds."""
    seen = Switch([Outcome(10, True, 1_000_000, 1.0), Outcome(10, True, 1_000_000, 1.1)])
    assert seen.expected(1000) == pytest.approx(100.0)
    assert not seen.tries(1000, TOTAL, seconds=20.0)
    assert seen.tries(1000, TOTAL, seconds=30.0)
    assert seen.tries(10, TOTAL, seconds=0.001)  # as many were seen


def test_what_few_instances_took_says_nothing_about_many() -> None:
    """A transaction has a cost of its own: a thousand times as many rows do not take a thousand times as long."""
    seen = Switch([Outcome(1, True, 5, 0.01)])
    assert seen.expected(1000) < 0.01


def test_after_a_while_it_is_tried_again() -> None:
    tired = learned((10, False), (10, False))
    for _ in range(10):
        tired.skipped()
    assert tired.tries(10, TOTAL)


def test_the_budget_is_a_part_of_the_time_and_a_little_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    allowance = Allowance(0.2, Preparation())
    tick = allowance.begin(1.0)
    now[0] = 0.2 + 0.9 * switch.LEAST_SECONDS
    tick(1)
    allowance.end()
    tick = allowance.begin(1.0)  # what was to spare is spent
    now[0] += 0.2 + 0.2 * switch.LEAST_SECONDS
    with pytest.raises(OverBudget):
        tick(1)


def test_what_later_updates_use_too_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    preparation = Preparation()
    tick = Allowance(0.2, preparation).begin(1.0)
    with preparation:
        now[0] += 3.0
    tick(1)
    now[0] += 0.3
    with pytest.raises(OverBudget):
        tick(1)


def test_after_preparation_nothing_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def watched(*args: Any, **named: Any) -> Plan:
        plans.append(plan_query(*args, **named))
        return plans[-1]

    monkeypatch.setattr(planner, "plan_query", watched)
    database = Database(PATHS, {"e": EDGES})
    assert not plans
    database.state.prepare()
    made = len(plans)
    assert made == 2 + 2  # one for each head, and one for each place but that of a rule that has no other
    database.change({"e": EDGES[100:101]}, {})
    database.change({}, {"e": EDGES[100:101]})
    assert len(plans) == made
    assert_equation(database)


def test_a_state_learns() -> None:
    edges = [(i, i + 1) for i in range(400)]  # one in the middle has more consequences than are counted at a time
    database = Database(PATHS, {"e": edges}, budget=0.2)
    stratum = database.state.strata["p",]
    stratum.seconds = 1e-9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(switch, "LEAST_SECONDS", 0.0)
        reasons = []
        for _ in range(4):
            database.change({"e": edges[200:201]}, {})
            reasons.append(database.recomputed.get("p", ""))
            stratum.seconds = 1e-9
            database.change({}, {"e": edges[200:201]}, strategy="update")
    assert "went beyond its budget" in reasons[0]
    assert reasons[2] == "an update of this size goes beyond its budget"
    assert len(database.rows("p")) == 401 * 400 // 2

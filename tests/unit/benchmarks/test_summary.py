"""Medians, ratios, and goals scaled to the machine."""

import pytest
from benchmarks import compare, report, summary
from benchmarks.definition import Reference
from benchmarks.results import Outcome, Results, RowResult


def timed(*wall):
    return Outcome(wall=list(wall), cpu=list(wall), mb=[100.0] * len(wall))


def row(name, ours, theirs, reference=None, goal=1.0):
    references = {} if reference is None else {"duckdb": Reference(wall=reference)}
    return RowResult(name, "d", goal, {"A": "1000"}, references, 0.0, {"flintlog": ours, "duckdb": theirs})


def results(*rows, load=0.0):
    machine = {"cpu": "c", "cores": 2, "memory_gib": 8.0, "system": "s", "python": "3", "load": load, "revision": "r"}
    settings = {"engine": "naive", "threads": 2, "repeat": 3, "timeout": None, "warm_up": "row"}
    return Results("now", machine, settings, {"flintlog": "flintlog 1", "duckdb": "DuckDB 2"}, {}, list(rows))


def test_ratio_is_of_medians():
    assert summary.ratio(row("a", timed(1.0, 9.0, 2.0), timed(4.0, 4.0, 0.1)), "duckdb") == 0.5


def test_no_ratio_without_a_right_answer():
    assert summary.ratio(row("a", Outcome("wrong", "…", [1.0]), timed(4.0)), "duckdb") is None


def test_a_goal_stretches_with_the_rival():
    slow = row("a", timed(1.4), timed(3.0), reference=2.0)
    goal = summary.goal(slow, results(slow))
    assert goal is not None
    assert (goal.factor, goal.scaled, goal.met) == (1.5, 1.5, True)


def test_a_goal_shrinks_on_a_faster_machine():
    fast = row("a", timed(0.9), timed(1.0), reference=2.0)
    goal = summary.goal(fast, results(fast))
    assert goal is not None
    assert goal.met is False


def test_rows_without_reference_take_the_median_factor():
    known = [row(str(n), timed(1.0), timed(float(n)), reference=1.0) for n in (1, 2, 5)]
    alone = row("x", timed(1.9), timed(9.0))
    goal = summary.goal(alone, results(*known, alone))
    assert goal is not None
    assert (goal.factor, goal.met) == (2.0, True)


@pytest.mark.parametrize(("status", "met"), [("wrong", False), ("timeout", False), ("cannot", None)])
def test_only_a_right_answer_meets_a_goal(status, met):
    lost = row("a", Outcome(status, "…"), timed(1.0), reference=1.0)
    goal = summary.goal(lost, results(lost))
    assert goal is not None
    assert goal.met is met


def test_a_busy_machine_is_noted():
    assert summary.busy(results(load=0.3)) is None
    assert "load 3.0" in (summary.busy(results(load=3.0)) or "")


def test_table_shows_figures_and_failures():
    good = row("a", timed(1.0), timed(2.0), reference=2.0)
    bad = row("b", Outcome("wrong", "A is 1, expected 1000", [0.1]), Outcome("cannot", "no SQL"))
    page = report.markdown(results(good, bad))
    assert "| a : d | A 1,000 | 1.00 (1.00, 100) | 2.00 (2.00, 100) | 0.50 | – | 1.00 (1 × 1.00) | yes |" in page
    assert "| b : d | A 1,000 | **wrong** | – |  | – | 1.00 (1 × 1.00) | **no** |" in page
    assert "- b:d, flintlog: wrong, A is 1, expected 1000" in page
    assert "Goals met: 1 of 2." in page


def test_compare_shows_the_change_and_the_machines():
    before = results(row("a", timed(2.0), timed(1.0)), row("gone", timed(1.0), timed(1.0)))
    after = results(row("a", timed(1.0), timed(1.5)))
    assert "| a : d | 2.00 | 1.00 | 0.50 | 1.00 | 1.50 |" in compare.markdown(before, after)

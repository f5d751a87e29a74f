"""Tables, goals and pages of canned figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.incremental import elastic, memory, page, table3, updates
from benchmarks.incremental.elastic import CHANGES, EPOCHS, LARGE, Course
from benchmarks.incremental.goals import Goal, tally, verdict
from benchmarks.incremental.memory import Footprint
from benchmarks.incremental.process import gathered
from benchmarks.incremental.results import Found, joined, read
from benchmarks.incremental.script import Outcome, Timing, together
from benchmarks.incremental.table3 import Batch
from benchmarks.incremental.updates import Update
from benchmarks.process import Finished
from benchmarks.results import BadResults

MACHINE = {
    "cpu": "a processor",
    "cores": 2,
    "memory_gib": 8.0,
    "system": "Linux",
    "python": "3.11",
    "load": 0.1,
    "revision": "abc",
}
SETTINGS = {"sets": 3}
Seconds = dict[str, list[float]]
LATE = Outcome("timeout", "not done after 60 s")


def outcome(figures: Seconds, mb: float = 0.0) -> Outcome:
    """Right answers, each figure's seconds, and as many changed rows as seconds times a thousand."""
    return Outcome(
        figures={key: Timing(wall, wall, [round(1000 * w) for w in wall]) for key, wall in figures.items()}, mb=mb
    )


def batch(percent: float, figures: Seconds) -> Batch:
    return Batch("tc:RAND-1k", percent, 10, outcome(figures))


def update(facts: int, size: int, figures: Seconds) -> Update:
    return Update("galen:galen", "auto", size, facts, 108_766, outcome(figures))


def course(strategy: str, small: float, large: float, first: float = 1.0) -> Course:
    times = [first, *(large if number == LARGE else small for _, number in CHANGES)]
    figures = {epoch: [time] for epoch, time in zip(EPOCHS, times, strict=True)}
    return Course("galen:galen", strategy, 10, 100, outcome(figures))


def found(kind: str, *rows: Any) -> Found:
    return Found(kind, "today", dict(MACHINE), dict(SETTINGS), list(rows))


def missed(goals: Any) -> list[str]:
    return [goal.what for goal in goals if not goal.met]


# --- Table 3 --------------------------------------------------------------------------------------


def test_a_batch_is_a_line_with_its_shares() -> None:
    line = table3.markdown([batch(75, {"Mat": [2.0, 1.0, 3.0], "+": [0.5], "−": [0.6], "fsync": [0.1]})]).splitlines()[
        2
    ]
    assert line == "| tc : RAND-1k | 75 % | 10 | 2 | 0.5 | 0.6 | 0.1 | 25 % | 30 % | 1.2 | yes |"


def test_shares_are_asked_for_at_the_largest_batch_only() -> None:
    slow = {"Mat": [1.0], "+": [0.03], "−": [0.01]}
    assert missed(batch(99.0, slow).goals()) == []
    assert missed(batch(99.9, slow).goals()) == ["tc:RAND-1k, 99.9 %, + ÷ Mat"]


def test_deletions_may_take_twice_the_additions_anywhere() -> None:
    assert missed(batch(50, {"Mat": [1.0], "+": [0.4], "−": [0.8]}).goals()) == []
    assert missed(batch(50, {"Mat": [1.0], "+": [0.4], "−": [0.9]}).goals()) == ["tc:RAND-1k, 50 %, − ÷ +"]


def test_a_batch_without_times_misses_its_goals() -> None:
    late = Batch("tc:RAND-1k", 99.9, 10, LATE)
    assert len(missed(late.goals())) == 3
    text = page.markdown(found("table3", late))
    assert "| tc : RAND-1k | 99.9 % | 10 | – | – | – | – | – | – | – | **no** |" in text
    assert "- tc:RAND-1k, 99.9 %: timeout, not done after 60 s" in text


# --- Updates --------------------------------------------------------------------------------------


def test_an_update_shows_its_spread_and_what_it_changed() -> None:
    figures = {"bootstrap": [10.0], "−": [0.1, 0.3, 0.2], "+": [0.05, 0.04, 0.06]}
    text = updates.markdown([update(10, 10, figures)])
    spreads = "0.1 / 0.2 / 0.3 | 0.04 / 0.05 / 0.06"
    assert f"| galen : galen | auto | 10 | {spreads} | 40 to 300 | 10 | 2 % | 0.5 % | yes |" in text
    assert "the paper's" not in text


def test_small_updates_have_a_goal_where_the_paper_finds_them_cheap() -> None:
    slow = {"bootstrap": [1.0], "−": [0.5], "+": [0.01]}
    assert missed(update(10, 10, slow).goals()) == ["galen:galen, 10 facts, − ÷ bootstrap"]
    assert missed(update(1_114, 10_000, slow).goals()) == []
    assert missed(Update("crdt_text:crdt", "auto", 10, 10, 100, outcome(slow)).goals()) == []
    assert missed(Update("galen:galen", "dred", 10, 10, 100, outcome(slow)).goals()) == []


def test_sizes_that_are_scaled_are_told() -> None:
    figures = {"bootstrap": [1.0], "−": [0.5], "+": [0.5]}
    text = updates.markdown([update(10, 10, figures), update(1_114, 10_000, figures)])
    assert "galen:galen has 108,766 facts where the paper's data has 976,552" in text
    assert "(10 for 10, 1,114 for 10,000)" in text


# --- Elastic --------------------------------------------------------------------------------------


def test_the_workload_is_the_papers() -> None:
    """An initial evaluation, six small updates in turns, a large one, four small ones, a large one; nothing is lost."""
    large = [number for number, (_, which) in enumerate(CHANGES, 1) if which == LARGE]
    assert (len(EPOCHS), large) == (13, [7, 12])
    away: set[int] = set()
    for action, which in CHANGES:
        assert (which in away) == (action == "insert")
        away ^= {which}
    assert not away


def test_totals_stand_beside_recomputing() -> None:
    courses = [course("auto", 0.1, 1.0), course("update", 0.1, 5.0), course("recompute", 1.0, 1.0)]
    lines = elastic.markdown(courses).splitlines()
    assert lines[2] == "| galen : galen | 10 / 100 | 4 (0.308×) | 12 (0.923×) | – | – | – | 13 |"
    assert "Goals met: 3 of 3." in lines
    assert "| 7 | − 100 | 1 | 5 | 1 |" in lines
    assert "| 8 | − 10 | 0.1 | 0.1 | 1 |" in lines


def test_a_strategy_that_takes_long_is_measured_fewer_times() -> None:
    auto = course("auto", 0.1, 1.0)
    often = Course(auto.case, "auto", 10, 100, together(auto.outcome, course("auto", 0.3, 1.0).outcome))
    assert often.times == 2
    assert often.at_least == pytest.approx(5.0)
    cut_off = Course(auto.case, "dred", 10, 100, replace(course("dred", 0.1, 9.0).outcome, status="timeout"))
    text = elastic.markdown([often, course("update", 0.1, 5.0), cut_off])
    assert "- 1 ×: galen:galen, update\n" in text
    assert "| galen : galen | 10 / 100 | 5 | 12 | – | over 20 | – | – |" in text


def test_workers_of_one_script_are_taken_together() -> None:
    first, second = outcome({"a": [1.0], "b": [2.0]}, mb=3.0), outcome({"a": [3.0]}, mb=2.0)
    both = together(first, second)
    assert (both.status, both.mb) == ("ok", 3.0)
    assert both.figures == {"a": Timing([1.0, 3.0], [1.0, 3.0], [1000, 3000])}
    assert together(first, replace(second, status="wrong", message="no")).message == "no"
    assert together(replace(first, status="timeout"), second).status == "timeout"


def test_goals_of_the_automatic_choice() -> None:
    recompute, best = course("recompute", 0.5, 1.0), course("bootstrap", 0.1, 1.0)
    assert missed(elastic.goals([course("auto", 0.1, 1.25), best, recompute])) == [
        "galen:galen, auto ÷ bootstrap, the best strategy"
    ]
    assert missed(elastic.goals([course("auto", 0.1, 1.4), recompute])) == [
        "galen:galen, auto ÷ recompute in epoch 7",
    ]
    assert missed(elastic.goals([course("auto", 0.6, 1.0), recompute])) == ["galen:galen, auto ÷ recompute"]
    assert missed(elastic.goals([course("auto", 0.1, 1.0, first=1.3), recompute])) == []
    assert missed(elastic.goals([course("auto", 0.1, 1.0, first=1.4), recompute])) == [
        "galen:galen, auto ÷ recompute in epoch 0",
    ]


def test_a_strategy_that_is_late_is_not_the_best() -> None:
    late = Course("galen:galen", "update", 10, 100, LATE)
    asked = list(elastic.goals([course("auto", 0.1, 1.0), late, course("dred", 0.2, 1.0)]))
    assert [goal.what for goal in asked] == ["galen:galen, auto ÷ dred, the best strategy"]
    assert list(elastic.goals([late])) == []


# --- Memory ---------------------------------------------------------------------------------------


def test_time_and_memory_have_goals() -> None:
    run = [outcome({"run": [1.0]}, 100), outcome({"run": [2.0]}, 120), outcome({"run": [3.0]}, 110)]
    database = [outcome({"create": [3.5]}, 300), outcome({"create": [3.0]}, 330), outcome({"create": [2.0]}, 360)]
    footprint = Footprint("tc:RAND-1k", run, database)
    line = memory.markdown([footprint]).splitlines()[2]
    assert line == "| tc : RAND-1k | 2 | 3 | 1.5 | 110 | 330 | 3 | yes |"
    database[1].mb, database[0].figures["create"].wall[0] = 400, 9.0
    assert missed(footprint.goals()) == ["tc:RAND-1k, memory of a database ÷ of a run"]
    wrong = Footprint("tc:RAND-1k", [], [Outcome("wrong", "Tc has 3 rows, not 4")])
    assert len(missed(wrong.goals())) == 2


# --- Goals, files and pages -----------------------------------------------------------------------


def test_a_goal_that_is_not_measured_is_missed() -> None:
    goals = [Goal("this", 1.0, 1.0), Goal("that", None, 1.0)]
    assert verdict(goals[:1]) == "yes"
    assert verdict(goals) == "**no**"
    assert list(tally(goals)) == ["Goals met: 1 of 2.", "", "- that: not measured, at most 1"]


def test_the_page_has_a_chapter_for_every_command(tmp_path: Path) -> None:
    rows = {
        "memory": Footprint("tc:RAND-1k", [outcome({"run": [1.0]}, 100)], [outcome({"create": [1.0]}, 200)]),
        "elastic": course("auto", 0.1, 1.0),
        "updates": update(10, 10, {"bootstrap": [1.0], "−": [0.5], "+": [0.5]}),
        "table3": batch(50, {"Mat": [1.0], "+": [0.4], "−": [0.8]}),
    }
    files = [found(kind, row).save(tmp_path / f"{kind}.json") for kind, row in rows.items()]
    text = page.page(files)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [f"## {t}" for t in page.TITLES.values()]
    for kind, row in rows.items():
        assert page.markdown(found(kind, row)) in text
    assert "- today, revision abc, Python 3.11, sets 3" in text


def test_pieces_are_joined_and_the_last_counts() -> None:
    first = found("elastic", course("auto", 0.1, 1.0), course("dred", 0.1, 1.0))
    second = found("elastic", course("dred", 0.2, 1.0), course("recompute", 0.2, 1.0))
    rows = joined(first, second).rows
    assert [row.strategy for row in rows] == ["auto", "dred", "recompute"]
    assert rows[1] is second.rows[0]
    second.machine["revision"] = "another"
    with pytest.raises(BadResults, match="do not belong together"):
        joined(first, second)


def test_a_busy_machine_is_noted() -> None:
    busy = found("elastic", course("auto", 0.1, 1.0))
    assert "busy" not in page.markdown(busy)
    busy.machine["load"] = 1.5
    assert "The machine was busy" in page.markdown(busy)


def test_files_that_no_command_wrote(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text in ("[]", "{", json.dumps({"kind": "x"}), json.dumps({"kind": "memory", "rows": [{"case": "a"}]})):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadResults, match="is not a result"):
            read(file)
    with pytest.raises(BadResults, match="cannot read"):
        read(tmp_path / "none.json")


# --- What a process says --------------------------------------------------------------------------

LINE = '{"key": "+", "wall": 0.5, "cpu": 0.4, "changed": 7}\n'


def finished(stdout: str, code: int = 0, stderr: str = "", *, timed_out: bool = False) -> Finished:
    return Finished(code, 1.0, 1.0, 50.0, stdout, stderr, timed_out)


def test_figures_are_gathered_by_key() -> None:
    came = gathered(finished(LINE + LINE), 60)
    assert came == Outcome("ok", "", {"+": Timing([0.5, 0.5], [0.4, 0.4], [7, 7])}, 50.0)


@pytest.mark.parametrize(
    ("process", "status", "message"),
    [
        (finished(LINE + '{"status": "wrong", "message": "Tc"}\n'), "wrong", "Tc"),
        (finished(LINE + '{"key": "+", "wa', -9, timed_out=True), "timeout", "not done after 60 s"),
        (finished(LINE, 1, "Traceback\nMemoryError\n"), "failed", "exit code 1: MemoryError"),
    ],
)
def test_times_do_not_count_unless_all_is_well(process: Finished, status: str, message: str) -> None:
    came = gathered(process, 60)
    assert (came.status, came.message, came.seconds("+")) == (status, message, None)

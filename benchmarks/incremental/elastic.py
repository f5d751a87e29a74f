"""Thirteen epochs of small updates and two large ones, with every strategy: section 5.2 of "Towards Elastic
Incrementalization for Datalog"."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.incremental import cells
from benchmarks.incremental.cases import Case
from benchmarks.incremental.goals import (
    AUTO_TO_BEST_STRATEGY,
    AUTO_TO_RECOMPUTING,
    WORST_EPOCH_TO_RECOMPUTING,
    Goal,
    tally,
)
from benchmarks.incremental.process import perform
from benchmarks.incremental.sampling import Lines, count, draw, write, write_without
from benchmarks.incremental.script import Outcome, Step, outcome_of, together
from benchmarks.incremental.workloads import WORKLOADS

AUTO, RECOMPUTE = "auto", "recompute"
SINGLE = ("update", "bootstrap", "dred", "counting")
STRATEGIES = (AUTO, *SINGLE, RECOMPUTE)

# Which set of facts goes or comes after the first epoch: sets 0 to 4 are small. The large one stays away for the four
# small updates between its two epochs, so that the last epoch ends where the first began.
LARGE, WARM_UP = 5, 6
CHANGES: tuple[tuple[Literal["delete", "insert"], int], ...] = (
    *(("delete", 0), ("insert", 0), ("delete", 1), ("insert", 1), ("delete", 2), ("insert", 2)),
    *(("delete", LARGE), ("delete", 3), ("insert", 3), ("delete", 4), ("insert", 4), ("insert", LARGE)),
)
# A course is not begun again when those before took so many seconds: repetition is for what is quick, and noisy.
ENOUGH = 100.0
EPOCHS = tuple(str(number) for number in range(len(CHANGES) + 1))


@dataclass
class Course:
    """The epochs of a case with one strategy; `small` and `large` are how many facts change."""

    case: str
    strategy: str
    small: int
    large: int
    outcome: Outcome

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.strategy

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        yield f"{self.case}, {self.strategy}", self.outcome

    @property
    def total(self) -> float | None:
        """Seconds for all epochs."""
        times = [self.outcome.seconds(epoch) for epoch in EPOCHS]
        return None if None in times else sum(time for time in times if time is not None)

    @property
    def at_least(self) -> float:
        """Seconds for the epochs that it came to."""
        return sum(timing.median for timing in self.outcome.figures.values())

    @property
    def times(self) -> int:
        """How often it went through all epochs."""
        return min((len(timing.wall) for timing in self.outcome.figures.values()), default=0)


def course_of(row: dict[str, Any]) -> Course:
    """A course from its JSON."""
    return Course(**{**row, "outcome": outcome_of(row["outcome"])})


def measure(case: Case, strategy: str, repeat: int, work: Path, limit: float) -> Course:
    """All epochs so many times, each time by a process of its own, after a small update that only warms up; fewer
    times where they take long. Every strategy has the same sets."""
    workload, there = WORKLOADS[case.name], count(case.folder, case.files)
    small, large = (workload.facts(size, there) for size in (workload.sizes[0], workload.sizes[-1]))
    sizes = [small] * LARGE + [large, small]
    sets = draw(case.folder, case.files, sizes, f"{case.name} elastic")
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        folder = Path(scratch).resolve()
        if strategy == RECOMPUTE:
            steps = _recomputing(case, sets, folder)
        else:
            steps = _updating(case, strategy, sets, folder)
        course = Course(case.name, strategy, small, large, perform(case, steps, work, limit))
        while course.outcome.status == "ok" and course.times < repeat and course.times * course.at_least < ENOUGH:
            course.outcome = together(course.outcome, perform(case, steps, work, limit))
        return course


def _updating(case: Case, strategy: str, sets: Sequence[Lines], scratch: Path) -> list[Step]:
    folders = [write(lines, scratch / str(number)) for number, lines in enumerate(sets)]
    steps = [Step("create", case.folder)]
    steps += [Step(action, folders[WARM_UP], strategy=strategy) for action in ("delete", "insert")]
    steps.append(Step("create", case.folder, EPOCHS[0]))
    for epoch, (action, number) in zip(EPOCHS[1:], CHANGES, strict=True):
        steps.append(Step(action, folders[number], epoch, strategy))
    return [*steps, Step("check", case.folder)]


def _recomputing(case: Case, sets: Sequence[Lines], scratch: Path) -> list[Step]:
    states = [frozenset[int]()]
    for _, number in CHANGES:
        states.append(states[-1] ^ {number})  # what is away comes, what is there goes
    folders = {frozenset[int](): case.folder}
    for state in states:
        if state not in folders:
            gone = [sets[number] for number in sorted(state)]
            name = "without-" + "-".join(map(str, sorted(state)))
            folders[state] = write_without(case.folder, case.files, gone, scratch / name)
    warm_up = Step("run", case.folder)
    return [warm_up, *(Step("run", folders[state], epoch) for epoch, state in zip(EPOCHS, states, strict=True))]


def goals(courses: Sequence[Course]) -> Iterator[Goal]:
    """Of the courses of one case."""
    by_strategy = {course.strategy: course for course in courses}
    auto, recompute = by_strategy.get(AUTO), by_strategy.get(RECOMPUTE)
    if auto is None:
        return
    if best := _best(courses):
        name = f"{auto.case}, auto ÷ {best.strategy}, the best strategy"
        yield Goal(name, cells.over(auto.total, best.total), AUTO_TO_BEST_STRATEGY)
    if recompute is not None:
        yield Goal(f"{auto.case}, auto ÷ recompute", cells.over(auto.total, recompute.total), AUTO_TO_RECOMPUTING)
        epoch, found = _worst(auto, recompute)
        yield Goal(f"{auto.case}, auto ÷ recompute in epoch {epoch}", found, WORST_EPOCH_TO_RECOMPUTING)


def _best(courses: Sequence[Course]) -> Course | None:
    totals = {course.strategy: total for course in courses if (total := course.total) is not None}
    single = [course for course in courses if course.strategy in SINGLE and course.strategy in totals]
    return min(single, key=lambda course: totals[course.strategy], default=None)


def _worst(auto: Course, recompute: Course) -> tuple[str, float | None]:
    """The epoch that took the longest beside recomputing: also the first, though a bootstrap has a goal of its own."""
    found = {
        epoch: ratio
        for epoch in EPOCHS
        if (ratio := cells.over(auto.outcome.seconds(epoch), recompute.outcome.seconds(epoch))) is not None
    }
    return max(found.items(), key=lambda item: item[1], default=("?", None))


def markdown(courses: Sequence[Course]) -> str:
    cases = list(dict.fromkeys(course.case for course in courses))
    by_case = [[course for course in courses if course.case == case] for case in cases]
    asked = [goal for each in by_case for goal in goals(each)]
    return cells.paragraphs([_totals(by_case), _times(courses), "\n".join(tally(asked)), *map(_epochs, by_case)])


def _totals(by_case: Sequence[Sequence[Course]]) -> str:
    """Seconds of all epochs, and in brackets how many times what recomputing takes."""
    rows = []
    for courses in by_case:
        found = {course.strategy: course for course in courses}
        reference = found[RECOMPUTE].total if RECOMPUTE in found else None
        totals = [_total(found[s], reference) if s in found else cells.seconds(None) for s in STRATEGIES]
        rows.append([courses[0].case.replace(":", " : "), f"{courses[0].small:,} / {courses[0].large:,}", *totals])
    return cells.table(["program : data", "facts ±, small / large", *(f"{s} s" for s in STRATEGIES)], rows)


def _total(course: Course, reference: float | None) -> str:
    if course.total is None:
        return f"over {cells.seconds(course.at_least)}" if course.outcome.status == "timeout" else cells.seconds(None)
    beside = reference is not None and course.strategy != RECOMPUTE
    return cells.seconds(course.total) + (f" ({cells.ratio(cells.over(course.total, reference))}×)" if beside else "")


def _times(courses: Sequence[Course]) -> str:
    """How often each strategy went through all epochs, where that is not the same for all."""
    by_times = defaultdict[int, list[str]](list)
    for course in courses:
        if course.total is not None:
            by_times[course.times].append(f"{course.case}, {course.strategy}")
    if len(by_times) < 2:
        return ""
    *fewer, _ = sorted(by_times)
    lines = [f"- {times} ×: {'; '.join(by_times[times])}" for times in fewer]
    return "\n".join(["Measured fewer times, because they take long:", "", *lines])


def _epochs(courses: Sequence[Course]) -> str:
    """Seconds of each epoch of one case."""
    first = courses[0]
    changes = ["all facts"]
    for action, number in CHANGES:
        facts = first.large if number == LARGE else first.small
        changes.append(f"{'−' if action == 'delete' else '+'} {facts:,}")
    rows = [
        [epoch, change, *(cells.seconds(course.outcome.seconds(epoch)) for course in courses)]
        for epoch, change in zip(EPOCHS, changes, strict=True)
    ]
    table = cells.table(["epoch", "change", *(f"{course.strategy} s" for course in courses)], rows)
    return f"{first.case}:\n\n{table}"

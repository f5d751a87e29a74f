"""Thirteen epochs of small updates and two large ones, with every strategy: section 5.2 of "Towards Elastic
Incrementalization for Datalog"."""

import tempfile
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
from benchmarks.incremental.script import Outcome, Step, outcome_of
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


def course_of(row: dict[str, Any]) -> Course:
    """A course from its JSON."""
    return Course(**{**row, "outcome": outcome_of(row["outcome"])})


def measure(case: Case, strategy: str, repeat: int, work: Path, limit: float) -> Course:
    """All epochs so many times, each time from a new database, after a small update that only warms up. Every strategy
    has the same sets."""
    workload, there = WORKLOADS[case.name], count(case.folder, case.files)
    small, large = (workload.facts(size, there) for size in (workload.sizes[0], workload.sizes[-1]))
    sizes = [small] * LARGE + [large, small]
    sets = draw(case.folder, case.files, sizes, f"{case.name} elastic")
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        folder = Path(scratch).resolve()
        if strategy == RECOMPUTE:
            steps = _recomputing(case, sets, repeat, folder)
        else:
            steps = _updating(case, strategy, sets, repeat, folder)
        return Course(case.name, strategy, small, large, perform(case, steps, work, limit))


def _updating(case: Case, strategy: str, sets: Sequence[Lines], repeat: int, scratch: Path) -> list[Step]:
    folders = [write(lines, scratch / str(number)) for number, lines in enumerate(sets)]
    steps = [Step("create", case.folder)]
    steps += [Step(action, folders[WARM_UP], strategy=strategy) for action in ("delete", "insert")]
    for _ in range(repeat):
        steps.append(Step("create", case.folder, EPOCHS[0]))
        for epoch, (action, number) in zip(EPOCHS[1:], CHANGES, strict=True):
            steps.append(Step(action, folders[number], epoch, strategy))
        steps.append(Step("check", case.folder))
    return steps


def _recomputing(case: Case, sets: Sequence[Lines], repeat: int, scratch: Path) -> list[Step]:
    states = [frozenset[int]()]
    for _, number in CHANGES:
        states.append(states[-1] ^ {number})  # what is away comes, what is there goes
    folders = {frozenset[int](): case.folder}
    for state in states:
        if state not in folders:
            gone = [sets[number] for number in sorted(state)]
            name = "without-" + "-".join(map(str, sorted(state)))
            folders[state] = write_without(case.folder, case.files, gone, scratch / name)
    once = [Step("run", folders[state], epoch) for epoch, state in zip(EPOCHS, states, strict=True)]
    return [Step("run", case.folder), *once * repeat]


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
    """The update, not the first epoch, that took the longest beside recomputing. A bootstrap has a goal of its own."""
    found = {
        epoch: ratio
        for epoch in EPOCHS[1:]
        if (ratio := cells.over(auto.outcome.seconds(epoch), recompute.outcome.seconds(epoch))) is not None
    }
    return max(found.items(), key=lambda item: item[1], default=("?", None))


def markdown(courses: Sequence[Course]) -> str:
    cases = list(dict.fromkeys(course.case for course in courses))
    by_case = [[course for course in courses if course.case == case] for case in cases]
    asked = [goal for each in by_case for goal in goals(each)]
    return cells.paragraphs([_totals(by_case), "\n".join(tally(asked)), *map(_epochs, by_case)])


def _totals(by_case: Sequence[Sequence[Course]]) -> str:
    """Seconds of all epochs, and in brackets how many times what recomputing takes."""
    rows = []
    for courses in by_case:
        found = {course.strategy: course for course in courses}
        reference = found[RECOMPUTE].total if RECOMPUTE in found else None
        row = [courses[0].case.replace(":", " : "), f"{courses[0].small:,} / {courses[0].large:,}"]
        for strategy in STRATEGIES:
            total = found[strategy].total if strategy in found else None
            beside = f" ({cells.ratio(total / reference)}×)" if total and reference and strategy != RECOMPUTE else ""
            row.append(cells.seconds(total) + beside)
        rows.append(row)
    return cells.table(["program : data", "facts ±, small / large", *(f"{s} s" for s in STRATEGIES)], rows)


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

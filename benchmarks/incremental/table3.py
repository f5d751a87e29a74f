"""A share of the facts is materialised, the rest is added, and deleted again: table 3 of "A Differential Datalog
Interpreter"."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.incremental import cells
from benchmarks.incremental.cases import Case
from benchmarks.incremental.goals import DELETION_TO_ADDITION, SHARE_OF_MATERIALISATION, Goal, tally, verdict
from benchmarks.incremental.process import perform
from benchmarks.incremental.sampling import count, draw, write, write_without
from benchmarks.incremental.script import Outcome, Step, outcome_of

CASES = ("rdfs:lubm1-rdfs", "rdfs_s:lubm1-rdfs", "owl2rl:lubm1-rdfs", "tc:RAND-1k", "tc:RMAT-1k")
BATCHES = (50.0, 75.0, 90.0, 99.0, 99.9)
MATERIALISE, ADD, DELETE, SYNC = "Mat", "+", "−", "fsync"


@dataclass
class Batch:
    """So many percent of a case's facts materialised, and the other `facts` added and deleted."""

    case: str
    percent: float
    facts: int
    outcome: Outcome

    @property
    def key(self) -> tuple[str, float]:
        return self.case, self.percent

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        yield f"{self.case}, {self.percent:g} %", self.outcome

    def ratio(self, one: str, other: str) -> float | None:
        return cells.over(self.outcome.seconds(one), self.outcome.seconds(other))

    def goals(self) -> Iterator[Goal]:
        name = f"{self.case}, {self.percent:g} %"
        if self.percent == max(BATCHES):
            for what in (ADD, DELETE):
                yield Goal(f"{name}, {what} ÷ Mat", self.ratio(what, MATERIALISE), SHARE_OF_MATERIALISATION)
        yield Goal(f"{name}, − ÷ +", self.ratio(DELETE, ADD), DELETION_TO_ADDITION)


def batch_of(row: dict[str, Any]) -> Batch:
    """A batch from its JSON."""
    return Batch(**{**row, "outcome": outcome_of(row["outcome"])})


def measure(case: Case, percent: float, sets: int, work: Path, limit: float) -> Batch:
    """With so many random sets, each in a database of its own, after one that only warms up."""
    facts = max(1, round(count(case.folder, case.files) * (1 - percent / 100)))
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        steps = [
            step for number in range(sets + 1) for step in _steps(case, percent, facts, number, Path(scratch).resolve())
        ]
        return Batch(case.name, percent, facts, perform(case, steps, work, limit))


def _steps(case: Case, percent: float, facts: int, number: int, scratch: Path) -> Iterator[Step]:
    (rest,) = draw(case.folder, case.files, [facts], f"{case.name} {percent:g} {number}")
    batch = write_without(case.folder, case.files, [rest], scratch / f"batch-{number}")
    more = write(rest, scratch / f"rest-{number}")
    counts = number > 0
    yield Step("create", batch, MATERIALISE if counts else "")
    yield Step("insert", more, ADD if counts else "")
    # A check would make indexes that the deletion needs. What is compared with was computed in the set that warms up.
    yield Step("compare", case.folder)
    yield Step("delete", more, DELETE if counts else "")
    yield Step("sync", more, SYNC if counts else "")
    yield Step("check", batch)


def markdown(batches: Sequence[Batch]) -> str:
    header = ["program : data", "batch", "facts ±", "Mat s", "+ s", "− s", "fsync s"]
    header += ["+ ÷ Mat", "− ÷ Mat", "− ÷ +", "goal met"]
    goals = [goal for batch in batches for goal in batch.goals()]
    return cells.paragraphs([cells.table(header, map(_row, batches)), "\n".join(tally(goals))])


def _row(batch: Batch) -> Sequence[str]:
    times = [cells.seconds(batch.outcome.seconds(key)) for key in (MATERIALISE, ADD, DELETE, SYNC)]
    shares = [cells.percentage(batch.ratio(key, MATERIALISE)) for key in (ADD, DELETE)]
    name = batch.case.replace(":", " : ")
    figures = [*times, *shares, cells.ratio(batch.ratio(DELETE, ADD))]
    return [name, f"{batch.percent:g} %", f"{batch.facts:,}", *figures, verdict(list(batch.goals()))]

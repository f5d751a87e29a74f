"""Random facts deleted and inserted again, few or many at a time: section 5.1 of "Towards Elastic Incrementalization
for Datalog"."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.incremental import cells
from benchmarks.incremental.cases import Case
from benchmarks.incremental.goals import SMALL_UPDATE_TO_BOOTSTRAP, Goal, tally, verdict
from benchmarks.incremental.process import perform
from benchmarks.incremental.sampling import count, draw, write
from benchmarks.incremental.script import Outcome, Step, outcome_of
from benchmarks.incremental.workloads import WORKLOADS

BOOTSTRAP, DELETE, INSERT = "bootstrap", "−", "+"
# crdt_text has no goal: the paper finds no incremental strategy that helps there.
SMALL_UPDATES_ARE_CHEAP = ("points_to", "galen")


@dataclass
class Update:
    """Cycles of a case with one size of update: `size` in the paper, so many `facts` of those that are `there` here."""

    case: str
    strategy: str
    size: int
    facts: int
    there: int
    outcome: Outcome

    @property
    def key(self) -> tuple[str, str, int]:
        return self.case, self.strategy, self.size

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        yield f"{self.case}, {self.strategy}, {self.facts:,} facts", self.outcome

    def ratio(self, what: str) -> float | None:
        return cells.over(self.outcome.seconds(what), self.outcome.seconds(BOOTSTRAP))

    def goals(self) -> Iterator[Goal]:
        small = WORKLOADS[self.case].sizes[0]
        if self.strategy == "auto" and self.size == small and self.case.startswith(SMALL_UPDATES_ARE_CHEAP):
            for what in (DELETE, INSERT):
                name = f"{self.case}, {self.facts:,} facts, {what} ÷ bootstrap"
                yield Goal(name, self.ratio(what), SMALL_UPDATE_TO_BOOTSTRAP)


def update_of(row: dict[str, Any]) -> Update:
    """An update from its JSON."""
    return Update(**{**row, "outcome": outcome_of(row["outcome"])})


def measure(case: Case, strategy: str, size: int, sets: int, work: Path, limit: float) -> Update:
    """With so many random sets, one after the other in one database, after one that only warms up."""
    there = count(case.folder, case.files)
    facts = WORKLOADS[case.name].facts(size, there)
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        # The first database only loads what the second needs too.
        steps = [Step("create", case.folder), Step("create", case.folder, BOOTSTRAP)]
        for number in range(sets + 1):
            (drawn,) = draw(case.folder, case.files, [facts], f"{case.name} {size} {number}")
            folder = write(drawn, Path(scratch).resolve() / str(number))
            steps.append(Step("delete", folder, DELETE if number else "", strategy))
            steps.append(Step("insert", folder, INSERT if number else "", strategy))
        steps.append(Step("check", case.folder))
        return Update(case.name, strategy, size, facts, there, perform(case, steps, work, limit))


def markdown(updates: Sequence[Update]) -> str:
    header = ["program : data", "strategy", "facts", "− s", "+ s", "rows changed"]
    header += ["bootstrap s", "− ÷ bootstrap", "+ ÷ bootstrap", "goal met"]
    goals = [goal for update in updates for goal in update.goals()]
    scaled = " ".join(_scaled(updates))
    return cells.paragraphs([cells.table(header, map(_row, updates), text_columns=2), scaled, "\n".join(tally(goals))])


def _row(update: Update) -> Sequence[str]:
    outcome = update.outcome
    measured = outcome.seconds(DELETE) is not None and outcome.seconds(INSERT) is not None
    spreads, changed = ["–", "–"], "–"
    if measured:
        spreads = [cells.spread(outcome.figures[what]) for what in (DELETE, INSERT)]
        rows = [*outcome.figures[DELETE].changed, *outcome.figures[INSERT].changed]
        changed = f"{min(rows):,} to {max(rows):,}"
    shares = [cells.percentage(update.ratio(what)) for what in (DELETE, INSERT)]
    bootstrap = cells.seconds(outcome.seconds(BOOTSTRAP))
    name = update.case.replace(":", " : ")
    goal = verdict(list(update.goals()))
    return [name, update.strategy, f"{update.facts:,}", *spreads, changed, bootstrap, *shares, goal]


def _scaled(updates: Sequence[Update]) -> Iterator[str]:
    """A sentence for each case whose updates have not the paper's size but the paper's share."""
    found = {update.case: update for update in updates if update.facts != update.size}
    for case, update in found.items():
        paper = WORKLOADS[case].paper_facts
        sizes = ", ".join(f"{each.facts:,} for {each.size:,}" for each in updates if each.case == case)
        yield (
            f"{case} has {update.there:,} facts where the paper's data has {paper:,}: large updates are the same share"
            f" of them ({sizes})."
        )

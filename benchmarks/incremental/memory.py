"""Time and memory of a new database beside those of a plain run, each in a process of its own."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.incremental import cells, table3
from benchmarks.incremental.cases import Case
from benchmarks.incremental.goals import BOOTSTRAP_TO_RUN, MEMORY_TO_RUN, Goal, tally, verdict
from benchmarks.incremental.process import perform
from benchmarks.incremental.sampling import count, draw, write
from benchmarks.incremental.script import Outcome, Step, outcome_of
from benchmarks.incremental.workloads import WORKLOADS

CASES = (*table3.CASES, *WORKLOADS)
RUN, CREATE = "run", "create"
UPDATES, FACTS = 3, 10  # of the database that is measured: a few small ones


@dataclass
class Footprint:
    """Of a case: processes that run the program, and processes that create a database and update it a few times."""

    case: str
    run: list[Outcome]
    database: list[Outcome]

    @property
    def key(self) -> str:
        return self.case

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        for name, processes in (("run", self.run), ("database", self.database)):
            yield from ((f"{self.case}, {name}", outcome) for outcome in processes)

    def seconds(self) -> tuple[float | None, float | None]:
        """Of the run and of creating the database, in processes that have done nothing before."""
        return _median([o.seconds(RUN) for o in self.run]), _median([o.seconds(CREATE) for o in self.database])

    def megabytes(self) -> tuple[float | None, float | None]:
        """The peaks of both kinds of process."""
        run, database = (
            _median([o.mb if o.status == "ok" else None for o in each]) for each in (self.run, self.database)
        )
        return run, database

    def goals(self) -> Iterator[Goal]:
        run, create = self.seconds()
        yield Goal(f"{self.case}, create ÷ run", cells.over(create, run), BOOTSTRAP_TO_RUN)
        run, database = self.megabytes()
        yield Goal(f"{self.case}, memory of a database ÷ of a run", cells.over(database, run), MEMORY_TO_RUN)


def footprint_of(row: dict[str, Any]) -> Footprint:
    """A footprint from its JSON."""
    return Footprint(row["case"], list(map(outcome_of, row["run"])), list(map(outcome_of, row["database"])))


def measure(case: Case, repeat: int, work: Path, limit: float) -> Footprint:
    """So many processes of each kind, in turns, after one of each that does not count; that one is checked, because a
    check takes memory."""
    facts = min(FACTS, count(case.folder, case.files) // UPDATES)
    sets = draw(case.folder, case.files, [facts] * UPDATES, f"{case.name} memory")
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        run, database = [Step("run", case.folder, RUN)], [Step("create", case.folder, CREATE)]
        for number, lines in enumerate(sets):
            folder = write(lines, Path(scratch).resolve() / str(number))
            database += [Step("delete", folder), Step("insert", folder)]
        perform(case, run, work, limit)
        checked = perform(case, [*database, Step("check", case.folder)], work, limit)
        if checked.status != "ok":
            return Footprint(case.name, [], [checked])
        found = Footprint(case.name, [], [])
        for _ in range(repeat):
            found.run.append(perform(case, run, work, limit))
            found.database.append(perform(case, database, work, limit))
        return found


def markdown(footprints: Sequence[Footprint]) -> str:
    header = ["program : data", "run s", "create s", "÷", "run MB", "database MB", "÷", "goal met"]
    goals = [goal for footprint in footprints for goal in footprint.goals()]
    return cells.paragraphs([cells.table(header, map(_row, footprints)), "\n".join(tally(goals))])


def _row(footprint: Footprint) -> Sequence[str]:
    run, create = footprint.seconds()
    run_mb, database_mb = footprint.megabytes()
    times = [cells.seconds(run), cells.seconds(create), cells.ratio(cells.over(create, run))]
    sizes = ["–" if mb is None else f"{mb:,.0f}" for mb in (run_mb, database_mb)]
    sizes.append(cells.ratio(cells.over(database_mb, run_mb)))
    return [footprint.case.replace(":", " : "), *times, *sizes, verdict(list(footprint.goals()))]


def _median(values: Sequence[float | None]) -> float | None:
    """None if one of them is not there, or there are none."""
    known = [value for value in values if value is not None]
    return median(known) if known and len(known) == len(values) else None

"""From runs to figures: medians, ratios, and the goal on the machine at hand."""

from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.definition import RIVALS
from benchmarks.results import Outcome, Results, RowResult


@dataclass(frozen=True)
class Goal:
    """A row's goal in wall seconds, stretched or shrunk by `factor`; `met` is None when there is no time to judge."""

    seconds: float
    factor: float
    met: bool | None

    @property
    def scaled(self) -> float:
        return self.seconds * self.factor


def flintlog(row: RowResult) -> Outcome:
    return row.outcomes["flintlog"]


def ratio(row: RowResult, rival: str) -> float | None:
    """Flintlog's median wall time over the rival's: below 1, Flintlog is faster."""
    if rival not in row.outcomes:
        return None
    ours, theirs = flintlog(row).median("wall"), row.outcomes[rival].median("wall")
    return ours / theirs if ours is not None and theirs else None


def slowness(row: RowResult) -> float | None:
    """How much longer a rival took here than its reference figure says; DuckDB's word counts before Soufflé's."""
    for rival in RIVALS:
        reference = row.references.get(rival)
        measured = row.outcomes[rival].median("wall") if rival in row.outcomes else None
        if measured is not None and reference is not None and reference.wall and not reference.interpreted:
            return measured / reference.wall
    return None


def machine_factor(results: Results) -> float:
    """The median slowness over all rows that have one, for the rows that have none; 1 where no rival ran."""
    known = [factor for row in results.rows if (factor := slowness(row)) is not None]
    return median(known) if known else 1.0


def goal(row: RowResult, results: Results) -> Goal | None:
    """The row's goal for this machine in this hour; None if the row has no goal."""
    if row.goal is None:
        return None
    factor = slowness(row) or machine_factor(results)
    outcome = flintlog(row)
    ours = outcome.median("wall")
    if ours is None:
        # An answer that is wrong, missing or late has not met any goal; a row that could not be run says nothing.
        return Goal(row.goal, factor, None if outcome.status in ("ok", "cannot") else False)
    return Goal(row.goal, factor, ours <= row.goal * factor)


def mean_ratio(results: Results, rival: str) -> float | None:
    """The geometric mean of the ratios over the rows where both have a time."""
    ratios = [r for row in results.rows if (r := ratio(row, rival)) is not None]
    return geometric_mean(ratios) if ratios else None


def busy(results: Results) -> str | None:
    """A sentence, if others used the machine: load before the run, or more during it than the run itself makes."""
    cores, before = results.machine["cores"], results.machine["load"]
    highest = max((row.load for row in results.rows), default=0.0)
    if before <= 0.5 * cores and highest <= results.settings["threads"] + 1:
        return None
    return (
        f"The machine was busy: load {before:.1f} before the run and up to {highest:.1f} during it, on {cores} cores."
    )

"""Whether a stratum is updated, or computed again: what a budget allows, and what earlier updates taught.

An update that takes more than its budget is given up, and was in vain. Where updates of that size have nearly always
been, the next is not begun at all. It does not need to be likely that an update succeeds: to try costs a part of what
it can save.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log10

from flintlog.incremental.preparation import Preparation

# The part of the time that computing a stratum took, after which an update of it is given up, unless told otherwise.
BUDGET = 0.2
# So many seconds more may the updates of all strata take together: short ones are not worth a thought.
LEAST_SECONDS = 0.01
# An update of one stratum may take so long in any case, or as long as computing it, if that is quicker: programs with
# many small strata would soon have spent what there is for all.
LEAST_OF_ONE = 0.002
# Not tried where updates fail more often than this. With a budget of a fifth, to try is dearer then on average.
MOST_FAILURES = 0.8
# What is believed before anything was seen, as failures and successes: two of three updates succeed, but one or two
# failures change that; those that begin with a large part of what a stratum is computed from fail, until one has not.
# A changed row costs some fifty times what it costs when everything is computed (galen: deletions of 1 % of the facts
# take nine tenths of a bootstrap); where facts have few consequences, it is less.
_SMALL, _LARGE = (0.2, 0.4), (1.8, 0.4)
_LARGE_PART = 0.03
# How much less an outcome counts with every later update; so it is tried again after a while.
_FADING = 0.8
_REMEMBERED = 16

Outcome = tuple[int, bool]


class OverBudget(Exception):
    """An update takes too long: computing the stratum again is quicker."""


class Switch:
    """What became of a stratum's updates: how many rows they began with, and whether they came to an end in time."""

    def __init__(self, outcomes: list[Outcome] | None = None) -> None:
        self.outcomes = list(outcomes or ())

    def learned(self, size: int, *, finished: bool) -> None:
        self.outcomes = [*self.outcomes, (size, finished)][-_REMEMBERED:]

    def tries(self, size: int, total: int) -> bool:
        """Whether an update that begins with so many rows, of `total`, is worth it. A failure with fewer rows
        says the more, the fewer they were; so does a success with more."""
        failures, successes = _LARGE if size > _LARGE_PART * total else _SMALL
        for age, (other, finished) in enumerate(reversed(self.outcomes)):
            weight = _FADING**age * (1 + abs(log10(max(size, 1) / max(other, 1))))
            if finished and other >= size:
                successes += weight
            elif not finished and other <= size:
                failures += weight
        return failures / (failures + successes) <= MOST_FAILURES

    def skipped(self) -> None:
        """An update was not tried: what is remembered gets older."""
        self.learned(0, finished=True)


class Allowance:
    """The time that an update of all strata may take: of each stratum a part of what computing it took. What goes into
    the `preparation` is not counted: later updates have it, too, also if this one is given up."""

    def __init__(self, budget: float | None, preparation: Preparation) -> None:
        self._budget, self._preparation, self._spare = budget, preparation, LEAST_SECONDS
        self._started = self._regular = 0.0

    def is_plenty(self, seconds: float) -> bool:
        """Whether a stratum that took so long to compute can be updated in any case, for all that matters."""
        return self._budget is None or seconds < self._spare

    def begin(self, seconds: float) -> Callable[[], None]:
        """What is to be called now and then during the update of a stratum that took so long to compute; it raises
        OverBudget."""
        if self._budget is None:
            return lambda: None
        self._started, self._regular = self._now(), max(self._budget * seconds, min(seconds, LEAST_OF_ONE))
        end = self._started + self._regular + self._spare

        def tick() -> None:
            if self._now() > end:
                raise OverBudget

        return tick

    def end(self) -> None:
        used = self._now() - self._started
        self._spare = max(0.0, self._spare - max(0.0, used - self._regular))

    def _now(self) -> float:
        return time.perf_counter() - self._preparation.seconds

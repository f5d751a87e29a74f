"""Whether a stratum is updated, or computed again: what a budget allows, and what earlier updates taught.

An update that takes more than its budget is given up, and was in vain. Where updates of that size have nearly always
been, the next is not begun at all; nor where smaller ones had so many consequences that this one would go far beyond
its budget. It does not need to be likely that an update succeeds: to try costs a part of what it can save.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import inf, log10
from typing import NamedTuple

from flintlog.incremental.rows.preparation import Preparation

# The part of the time that computing a stratum took, after which an update of it is given up, unless told otherwise.
BUDGET = 0.2
# So many seconds more may the updates of all strata take together: short ones are not worth a thought.
LEAST_SECONDS = 0.02
# An update of one stratum may take so long in any case, or as long as computing it, if that is quicker: programs with
# many small strata would soon have spent what there is for all.
LEAST_OF_ONE = 0.002
# Not tried where updates fail more often than this. With a budget of a fifth, to try is dearer then on average.
MOST_FAILURES = 0.8
# What is believed before anything was seen, as failures and successes: two of three updates succeed, but one or two
# failures change that; those that begin with a large part of what a stratum is computed from fail, until one has not.
_SMALL, _LARGE = (0.2, 0.4), (1.8, 0.4)
# With recursion, a changed row can have many consequences (galen: deletions of 1 % of the facts take nine tenths of a
# bootstrap). Without it, it has its own instances and no others: these take one to eight times as long as when all
# are computed (crdt_text).
_LARGE_PART, _LARGE_WITHOUT_RECURSION = 0.03, 0.2
# How much less an outcome counts with every later update; so it is tried again after a while.
_FADING = 0.9
_REMEMBERED = 16
# An update is not begun if it would have to do so many times what its budget allows, going by the instances of rules
# that facts had to do with so far. Consequences of many facts overlap, or set off others: a hundred facts of crdt_text
# took a third of what ten led to expect, a thousand of points_to more than twice as long.
MOST_BEYOND = 4.0
# Seconds for an instance, until an update with so many of them has shown how quick they are: few at a time take longer.
_SECONDS_AN_INSTANCE, _MANY = 5e-7, 10_000


class OverBudget(Exception):
    """An update takes too long: computing the stratum again is quicker."""


class Outcome(NamedTuple):
    """What became of an update: how many rows it began with, whether it came to an end in time, how many instances of
    rules it looked at, and for how long."""

    size: int
    finished: bool
    instances: int = 0
    seconds: float = 0.0


class Switch:
    """What became of a stratum's updates."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self.outcomes = list(outcomes)

    def learned(self, outcome: Outcome) -> None:
        self.outcomes = [*self.outcomes, outcome][-_REMEMBERED:]

    def tries(self, size: int, total: int, seconds: float = inf, *, is_recursive: bool = True) -> bool:
        """Whether an update that begins with so many rows, of `total`, and may take so many seconds, is worth it. A
        failure with fewer rows says the more, the fewer they were; so does a success with more."""
        if self.expected(size) > MOST_BEYOND * seconds:
            return False
        large = total * (_LARGE_PART if is_recursive else _LARGE_WITHOUT_RECURSION)
        failures, successes = _LARGE if size > large else _SMALL
        for age, other in enumerate(reversed(self.outcomes)):
            weight = _FADING**age * (1 + abs(log10(max(size, 1) / max(other.size, 1))))
            if other.finished and other.size >= size:
                successes += weight
            elif not other.finished and other.size <= size:
                failures += weight
        return failures / (failures + successes) <= MOST_FAILURES

    def expected(self, size: int) -> float:
        """The seconds that an update of so many rows takes if each has to do with as many instances as those before. A
        few rows with many consequences are most of that: a large update is likely to have some, a small one is not."""
        rows = sum(outcome.size for outcome in self.outcomes)
        instances = sum(outcome.instances for outcome in self.outcomes)
        if not rows or size <= max(outcome.size for outcome in self.outcomes):
            return 0.0  # nothing is known, or as many were seen
        rates = [outcome.seconds / outcome.instances for outcome in self.outcomes if outcome.instances >= _MANY]
        return size * instances / rows * min(rates, default=_SECONDS_AN_INSTANCE)

    def skipped(self) -> None:
        """An update was not tried: what is remembered gets older."""
        self.learned(Outcome(0, finished=True))


class Meter:
    """Counts instances as they are found, and raises OverBudget when the time is over."""

    def __init__(self, now: Callable[[], float], end: float) -> None:
        self._now, self._end = now, end
        self.instances = 0

    def __call__(self, instances: int) -> None:
        self.instances += instances
        if self._now() > self._end:
            raise OverBudget


class Allowance:
    """The time that an update of all strata may take: of each stratum a part of what computing it took. What goes into
    the `preparation` is not counted: later updates have it, too, also if this one is given up."""

    def __init__(self, budget: float | None, preparation: Preparation) -> None:
        self._budget, self._preparation, self._spare = budget, preparation, LEAST_SECONDS
        self._started = self._regular = 0.0

    def is_plenty(self, seconds: float) -> bool:
        """Whether a stratum that took so long to compute can be updated in any case, for all that matters."""
        return self._budget is None or seconds < self._spare

    def of(self, seconds: float) -> float:
        """How long the update of a stratum may take that took so long to compute."""
        return inf if self._budget is None else max(self._budget * seconds, min(seconds, LEAST_OF_ONE))

    def is_less_than(self, expected: float, seconds: float) -> bool:
        """Whether an update that is expected to take so long would take longer than a stratum took to compute, or than
        it may take."""
        return self._budget is not None and expected > max(1.0, self._budget) * seconds + self._spare

    def begin(self, seconds: float) -> Meter:
        """What the update of a stratum that took so long to compute has to call with the instances that it finds."""
        self._started, self._regular = self._now(), self.of(seconds)
        return Meter(self._now, self._started + self._regular + self._spare)

    def end(self) -> float:
        """The update is done, or given up; returns how long it took."""
        used = self._now() - self._started
        self._spare = max(0.0, self._spare - max(0.0, used - self._regular))
        return used

    def _now(self) -> float:
        return time.perf_counter() - self._preparation.seconds

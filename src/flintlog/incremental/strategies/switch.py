"""The choice whether a stratum is updated or computed again, by a budget and by the outcomes of earlier updates.

An update that takes more than its budget is given up, and was in vain. An update is not begun if updates of its size
were nearly always given up, or if smaller ones had so many consequences that this one would go far beyond its budget.
An update may be worth a try though it is likely to fail: the try costs less than a success saves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from math import inf, log10
from typing import NamedTuple

from flintlog.incremental.rows.preparation import Preparation

# The part of the time that computing a stratum took, after which an update of it is given up, unless told otherwise.
BUDGET = 0.2
# The updates of all strata together may take so many seconds more: short ones are not worth a thought.
LEAST_SECONDS = 0.02
# An update of one stratum may take so long in any case, or as long as computing it, if that is quicker: programs with
# many small strata would soon have spent what there is for all.
LEAST_OF_ONE = 0.002
# No update is tried if a larger part of them fails. With a budget of a fifth, a try costs more than it saves then.
MOST_FAILURES = 0.8
# Failures and successes that are assumed at first. Two of three updates succeed, until one or two have failed. Updates
# that begin with a large part of the rows that a stratum is computed from fail, until one has succeeded.
_SMALL, _LARGE = (0.2, 0.4), (1.8, 0.4)
# With recursion, a changed row can have many consequences (galen: deletions of 1 % of the facts take nine tenths of a
# bootstrap). Without recursion, only its own instances change: an instance takes one to eight times as long as when
# all are computed (crdt_text).
_LARGE_PART, _LARGE_WITHOUT_RECURSION = 0.03, 0.2
# An outcome counts this much less with every later update: so an update is tried again after a while.
_FADING = 0.9
_REMEMBERED = 16
# An update is not begun if it is expected to take so many times its budget, by the instances for each changed fact so
# far. Consequences of many facts overlap, or cause others: a hundred facts of crdt_text took a third of what ten led to
# expect, a thousand of points_to more than twice as long.
MOST_BEYOND = 4.0
# Seconds for an instance, until an update with so many of them was measured: in a small update, each takes longer.
_SECONDS_AN_INSTANCE, _MANY = 5e-7, 10_000


class OverBudget(Exception):
    """An update takes too long: computing the stratum again is quicker."""


class Outcome(NamedTuple):
    """The outcome of an update: the rows that it began with, whether it finished in time, the instances of rules that
    it found, and its seconds."""

    size: int
    finished: bool
    instances: int = 0
    seconds: float = 0.0


class Switch:
    """The outcomes of a stratum's updates."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self.outcomes = list(outcomes)

    def learned(self, outcome: Outcome) -> None:
        self.outcomes = [*self.outcomes, outcome][-_REMEMBERED:]

    def tries(self, size: int, total: int, seconds: float = inf, *, is_recursive: bool = True) -> bool:
        """Whether to try an update that begins with `size` of `total` rows, and may take so many seconds. Failures with
        fewer rows and successes with more rows count, and the more, the farther their size is from this
        one."""
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
        """The seconds that an update of so many rows takes if each row has as many instances as the rows before. A few
        rows with many consequences make up most of these: a large update is likely to have some, a small one is not."""
        rows = sum(outcome.size for outcome in self.outcomes)
        instances = sum(outcome.instances for outcome in self.outcomes)
        if not rows or size <= max(outcome.size for outcome in self.outcomes):
            return 0.0  # no update was seen, or one of this size
        rates = [outcome.seconds / outcome.instances for outcome in self.outcomes if outcome.instances >= _MANY]
        return size * instances / rows * min(rates, default=_SECONDS_AN_INSTANCE)

    def skipped(self) -> None:
        """An update was not tried: the outcomes get older."""
        self.learned(Outcome(0, finished=True))


class Meter:
    """Counts instances, and raises OverBudget when the time is over."""

    def __init__(self, now: Callable[[], float], end: float) -> None:
        self._now, self._end = now, end
        self.instances = 0

    def __call__(self, instances: int) -> None:
        self.instances += instances
        if self._now() > self._end:
            raise OverBudget


class Allowance:
    """The time that an update of all strata may take: for each stratum a part of the time that computing it took. The
    time of the `preparation` does not count: later updates use it, too, even if this one is given up."""

    def __init__(self, budget: float | None, preparation: Preparation) -> None:
        self._budget, self._preparation, self._spare = budget, preparation, LEAST_SECONDS
        self._started = self._regular = 0.0

    def is_plenty(self, seconds: float) -> bool:
        """Whether a stratum that took so long to compute may be updated without a look at its outcomes."""
        return self._budget is None or seconds < self._spare

    def of(self, seconds: float) -> float:
        """The seconds for the update of a stratum that took so long to compute."""
        return inf if self._budget is None else max(self._budget * seconds, min(seconds, LEAST_OF_ONE))

    def is_less_than(self, expected: float, seconds: float) -> bool:
        """Whether an update that is expected to take so long takes longer than computing the stratum did, or than the
        update may take."""
        return self._budget is not None and expected > max(1.0, self._budget) * seconds + self._spare

    def begin(self, seconds: float) -> Meter:
        """Begins the update of a stratum that took so long to compute. The update calls the meter with the number of
        instances whenever it has found some."""
        self._started, self._regular = self._now(), self.of(seconds)
        return Meter(self._now, self._started + self._regular + self._spare)

    def end(self) -> float:
        """The update is done, or given up; returns how long it took."""
        used = self._now() - self._started
        self._spare = max(0.0, self._spare - max(0.0, used - self._regular))
        return used

    def _now(self) -> float:
        return time.perf_counter() - self._preparation.seconds

"""Decides when the ranks of a run are complete, and which of them have to end. Has no connections and no clock.

Spark restarts a barrier stage as a whole: all ranks of the run register again, each time with a higher attempt, while
tasks of the last attempt may still run. Only ranks of one attempt may get each other's addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flintlog.engines.spark.exchange.endings import SUPERSEDED, Ending, lost, missing

# Spark gives old tasks about two seconds to end.
SETTLE_SECONDS = 3.0


@dataclass(eq=False)
class Member:
    """A rank that has registered: `address` is for the other ranks, `line` is its control connection, and `generation`
    is the generation to which it belongs, once that is complete."""

    rank: int
    attempt: int
    address: tuple[str, int]
    line: Any
    since: float
    generation: int = 0


# The members whose run is over, each with the reason to tell it.
Told = list[tuple[Member, Ending]]


class Attendance:
    """Ranks wait until all have registered, then run as one generation until one is lost or all have finished."""

    def __init__(self, ranks: int, join_seconds: float) -> None:
        self.ranks, self.join_seconds = ranks, join_seconds
        self.generation = 0
        self.waiting: dict[int, Member] = {}
        self.running: dict[int, Member] = {}
        self._newest: dict[int, int] = {}
        self._oldest_valid = -1

    def register(self, member: Member) -> Told:
        """A newer attempt replaces an older one, and ends the generation in which the older one ran."""
        before = self._newest.get(member.rank, -1)
        if member.attempt < max(before, self._oldest_valid):
            return [(member, SUPERSEDED)]
        if 0 <= before < member.attempt:
            # Attempts are numbered in order of their start: no rank with an older number can be of the new attempt.
            self._oldest_valid = max(self._oldest_valid, before + 1)
        stale = [m for m in self.waiting.values() if m.rank == member.rank or m.attempt < self._oldest_valid]
        if member.rank in self.running:
            stale += self.running.values()
            self.running = {}
        for old in stale:
            self.waiting.pop(old.rank, None)
        self._newest[member.rank] = member.attempt
        self.waiting[member.rank] = member
        return [(old, SUPERSEDED) for old in stale]

    def leave(self, member: Member, in_good_order: bool) -> Told:
        """A rank's connection has ended. Unless the rank had finished, all other ranks of its generation have to
        end."""
        if self.waiting.get(member.rank) is member:
            del self.waiting[member.rank]
        elif self.running.get(member.rank) is member:
            del self.running[member.rank]
            if not in_good_order:
                others, self.running = self.running, {}
                return [(other, lost(member.rank)) for other in others.values()]
        return []

    def assemble(self, now: float) -> dict[int, Member] | None:
        """The next generation, once it is complete."""
        if len(self.waiting) < self.ranks or now < self._settled():
            return None
        self.generation += 1
        self.running, self.waiting = self.waiting, {}
        for member in self.running.values():
            member.generation = self.generation
        return self.running

    def expire(self, now: float) -> Told:
        """The ranks that have waited too long for absent ones."""
        if not self.waiting or now < self._expiry():
            return []
        absent = [rank for rank in range(self.ranks) if rank not in self.waiting]
        given_up, self.waiting = self.waiting, {}
        return [(member, missing(absent, self.join_seconds)) for member in given_up.values()]

    def next_event(self) -> float | None:
        """The time at which `assemble` or `expire` has to be called again even if no rank comes or goes."""
        if not self.waiting:
            return None
        return self._settled() if len(self.waiting) == self.ranks else self._expiry()

    def _settled(self) -> float:
        """The time from which the waiting ranks count as ranks of one attempt.

        Spark starts the tasks of a barrier stage together and numbers them in a row. Numbers that lie further apart
        hint at a task of a lost stage, which Spark is about to end: its successor may still come.
        """
        attempts = [member.attempt for member in self.waiting.values()]
        if max(attempts) - min(attempts) < self.ranks:
            return float("-inf")
        return max(member.since for member in self.waiting.values()) + SETTLE_SECONDS

    def _expiry(self) -> float:
        return min(member.since for member in self.waiting.values()) + self.join_seconds

"""A relation that maintenance keeps current: its log, and the logs that take the place of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.resources import Resources
from flintlog.engines.memory import MemoryGuard
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rows.row_log import RowLog

# A log is written anew when it has this many times the positions that its rows need, and more.
MOST_GONE, FEW = 2, 100_000
# Rows that were computed again become the log, if they are this many times as many as the log has.
MOST_NEW = 2
# So many rows that were computed again are looked up at a time: memory that was never touched before, as for the
# columns of all, is dear (a millisecond a megabyte on a virtual machine).
_AT_A_TIME = 1 << 15


@dataclass(frozen=True)
class StoredRows:
    """The rows of a relation that hold, or are facts that other rows stand for, and what is known of each."""

    columns: list[Array]
    rounds: NDArray[np.int32]
    counts: NDArray[np.int32]
    given: NDArray[np.bool_]


class MaintainedRelation(RowLog):
    """Only where most rows are new, or gone, does a relation go into another log, and become another object: until the
    update is done, `before` is the one that it was."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation)
        self.before: MaintainedRelation | None = None
        # The rows that an update has computed again, if they shall be the log after it.
        self._computed: tuple[Relation, NDArray[np.int32]] | None = None

    def restore(self, rows: StoredRows) -> None:
        """Takes all rows as they were stored, into a log that has none."""
        size = rows.rounds.size
        self.relation.take(rows.columns, size)
        self.rounds.start(rows.rounds)
        self.rounds.counts[:size], self.rounds.given[:size] = rows.counts, rows.given
        self.rounds.size = int(np.count_nonzero(rows.rounds != NEVER))

    def stored(self) -> StoredRows:
        of, known = self.rounds, self.rounds.known
        rows = np.flatnonzero((of.new[:known] != NEVER) | of.given[:known])
        if rows.size == known:  # nothing has to be chosen
            return StoredRows(self.relation.columns(), of.new[:known], of.counts[:known], of.given[:known])
        return StoredRows(self.columns(rows), of.new[rows], of.counts[rows], of.given[rows])

    # --- An update --------------------------------------------------------------------------------

    def computed_again(self, relation: Relation, rounds: NDArray[np.int32]) -> MaintainedRelation:
        """The rows are those of `relation` now, since these rounds. Returns this object, or, where most rows are new,
        another one whose log is `relation`."""
        if relation.size > MOST_NEW * self.rounds.known:
            return self._in(relation, rounds)
        self.rounds.set_all(NEVER)
        for start in range(0, relation.size, _AT_A_TIME):
            end = min(start + _AT_A_TIME, relation.size)
            columns = [relation.column(position, start, end) for position in range(relation.arity)]
            rows = self.enter(columns, end - start)  # which may put `new` elsewhere
            self.rounds.new[rows] = rounds[start:end]
        self.rounds.forget_counts()
        if self._is_mostly_gone(relation.size):
            self._computed = relation, rounds
        return self

    def _in(self, relation: Relation, rounds: NDArray[np.int32]) -> MaintainedRelation:
        """Rows that held before get positions behind those of the relation, if they have none in it."""
        known = self.rounds.known
        rows = np.flatnonzero((self.rounds.old[:known] != NEVER) | self.rounds.given[:known])
        other = MaintainedRelation(relation)
        other.before = self
        other.rounds.grow(rounds.size)
        other.rounds.set_all(NEVER)
        other.rounds.new[: rounds.size] = rounds
        where = other.enter(self.columns(rows), rows.size)
        other.rounds.old[where], other.rounds.given[where] = self.rounds.old[rows], self.rounds.given[rows]
        other.rounds.size = self.rounds.size
        return other

    def keep(self) -> None:
        """The update is done."""
        self.rounds.keep()
        self.before = None

    def take_back(self) -> None:
        """The update did not happen."""
        self.rounds.take_back()
        self._computed = None

    # --- After an update --------------------------------------------------------------------------

    def without_what_is_gone(self) -> MaintainedRelation:
        """Rows that go keep their positions, in case that they come again. Where most rows are gone, returns another
        object, whose log has only those that hold."""
        computed, self._computed = self._computed, None
        if not self._is_mostly_gone(self.rounds.size):
            return self
        if computed is None:
            other = MaintainedRelation(Relation(self.relation.name, self.relation.arity))
            other.restore(self.stored())
            return other
        given = self.rounds.facts()
        other = MaintainedRelation(computed[0])
        other.rounds.start(computed[1])
        other.enter_given(self.columns(given), given.size)
        return other

    def _is_mostly_gone(self, size: int) -> bool:
        return self.rounds.known > MOST_GONE * size + FEW


def current(relations: Mapping[str, MaintainedRelation], names: Iterable[str]) -> dict[str, Relation]:
    """Relations as a run reads them: copies of those whose logs have rows that are gone."""
    guarded = Resources(MemoryGuard())
    return {
        name: some.relation if some.rounds.is_whole() else some.relation.copy(some.rounds.present(), guarded)
        for name, some in [(name, relations[name]) for name in names]
    }

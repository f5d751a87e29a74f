"""What is known of each row of a log: its round before an update and after it, its count, and whether it is a fact."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.net_changes import NEVER, NO_ROWS, lost_and_gained, lost_and_gained_of_all
from flintlog.incremental.rows.relation_block import RelationBlock

UNKNOWN = -1
# The time of one row that is sorted is that of so many rows that are compared.
_SCANNED = 32
_NO_DIFFERENCE = NO_ROWS, NO_ROWS

T = TypeVar("T", bound=np.generic)


class RowRounds:
    """Arrays by the positions of rows in a log. `old` has the round of each row before an update and `new` the round
    after it, NEVER for a row that does not hold; between updates both are the same. `counts` are the derivations of a
    row in its round `new`, UNKNOWN until an update asks how many the row can lose. `given` rows are facts, which need
    no rule.

    An update writes through the methods below: they remember what `keep` has to finish, or `take_back` to undo."""

    def __init__(self, block: RelationBlock) -> None:
        self._block = block
        self.old: NDArray[np.int32] = np.full(64, NEVER, np.int32)
        self.new: NDArray[np.int32] = np.full(64, NEVER, np.int32)
        self.counts: NDArray[np.int32] = np.full(64, UNKNOWN, np.int32)
        self.given: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.known = 0  # rows of the log that have entries here
        self.size = 0  # rows that hold, or held before the update that is not done
        self._touched: list[Array] = []
        self._is_all_touched = False
        self._difference: tuple[Array, Array] | None = None  # lost and gained rows, once they were asked for
        self._counts_before: list[tuple[Array, NDArray[np.int32]]] = []
        self._given_before: list[tuple[Array, NDArray[np.bool_]]] = []
        block.point(self.old, self.new, self.counts)

    def start(self, rounds: NDArray[np.int32]) -> None:
        """All rows of the log hold, since these rounds."""
        self.grow(rounds.size + rounds.size // 8)  # the first rows that come shall not have to move all others
        self.known = self.size = int(rounds.size)
        self.old[: rounds.size] = self.new[: rounds.size] = rounds

    def grow(self, rows: int) -> None:
        """The log has so many rows."""
        self.make_room(rows)
        self.known = max(self.known, rows)

    def make_room(self, rows: int) -> None:
        if rows > self.old.size:
            room = max(rows, self.old.size * 3 // 2, 64)
            self.old, self.new = _longer(self.old, room, NEVER), _longer(self.new, room, NEVER)
            self.counts, self.given = _longer(self.counts, room, UNKNOWN), _longer(self.given, room, False)
            self._block.point(self.old, self.new, self.counts)

    def present(self) -> Array:
        """The positions of the rows that hold."""
        return np.flatnonzero(self.new[: self.known] != NEVER)

    def facts(self) -> Array:
        """The positions of the rows that are facts."""
        return np.flatnonzero(self.given[: self.known])

    def is_whole(self) -> bool:
        """Whether all rows of the log hold, so that it can stand for the relation."""
        lost, gained = self.lost_and_gained()
        return self.size + gained.size - lost.size == self.known

    # --- What an update does ----------------------------------------------------------------------

    def set_round(self, rows: Array, round: int | NDArray[np.int32]) -> None:
        self._touched.append(rows)
        self._difference = None
        self.new[rows] = round

    def set_all(self, round: int) -> None:
        """Every row may get another round after this."""
        self._is_all_touched, self._difference = True, None
        self.new[: self.known] = round

    def set_counts(self, rows: Array, counts: Array) -> None:
        self._counts_before.append((rows, self.counts[rows]))
        self.counts[rows] = counts

    def forget_counts(self) -> None:
        known = np.flatnonzero(self.counts[: self.known] != UNKNOWN)
        self.set_counts(known, np.full(known.size, UNKNOWN))

    def set_given(self, rows: Array, given: bool) -> None:
        self._given_before.append((rows, self.given[rows]))
        self.given[rows] = given

    def change_facts(self, late: Array, come: Array) -> None:
        """Takes rows away that are facts no longer, and puts new facts into round 0, with one derivation each."""
        if late.size:
            self.set_round(late, NEVER)
        if come.size:
            self.set_round(come, 0)
            self.set_counts(come, np.ones(come.size, np.int64))

    def was_changed(self, rows: Array, counts: NDArray[np.int32]) -> None:
        """Kernels have changed rows, which had these counts."""
        if rows.size:
            self._touched.append(rows)
            self._counts_before.append((rows, counts))
            self._difference = None

    # --- What an update has changed ---------------------------------------------------------------

    def is_settled(self) -> bool:
        """Whether there is nothing to keep, or to take back."""
        return not (self._is_all_touched or self._touched or self._counts_before or self._given_before)

    def lost_and_gained(self) -> tuple[Array, Array]:
        """The positions of rows that held before the update and do not now, and the other way round, in order."""
        if self._difference is None:
            if not (self._is_all_touched or self._touched):
                return _NO_DIFFERENCE
            if self._are_many_touched():
                self._difference = lost_and_gained_of_all(self.old[: self.known], self.new[: self.known])
            else:
                self._difference = lost_and_gained(self.old, self.new, self._touched)
        return self._difference

    def _are_many_touched(self) -> bool:
        """Whether all rows are compared in less time than the touched ones are sorted."""
        return self._is_all_touched or sum(rows.size for rows in self._touched) * _SCANNED > self.known

    def keep(self) -> None:
        """The update is done: its rounds are those before the next one."""
        lost, gained = self.lost_and_gained()
        self.size += gained.size - lost.size
        if self._are_many_touched():
            self.old[: self.known] = self.new[: self.known]
        else:
            for rows in self._touched:
                self.old[rows] = self.new[rows]
        self._touched, self._counts_before, self._given_before = [], [], []
        self._is_all_touched, self._difference = False, None

    def take_back(self) -> None:
        """The update did not happen."""
        self.take_back_rounds()
        for rows, given in reversed(self._given_before):
            self.given[rows] = given
        self._given_before = []

    def take_back_rounds(self) -> None:
        """The update has changed nothing but which rows are facts."""
        if self._is_all_touched:
            self.new[: self.known] = self.old[: self.known]
        for rows in self._touched:
            self.new[rows] = self.old[rows]
        for rows, counts in reversed(self._counts_before):
            self.counts[rows] = counts
        self._touched, self._counts_before = [], []
        self._is_all_touched, self._difference = False, None


def _longer(values: NDArray[T], room: int, empty: Any) -> NDArray[T]:
    result = np.full(room, empty, values.dtype)
    result[: values.size] = values
    return result

"""A relation's rows with what maintenance knows of each: the round in which it first comes, before an update and after
it, and in how many ways it comes in that round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.packing import Array, packing_for, range_of
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.resources import Resources
from flintlog.engines.local.storage.row_places import RowPlaces
from flintlog.engines.local.storage.some_rows import SomeRows
from flintlog.engines.memory import MemoryGuard
from flintlog.incremental.rows.distinct import each_once
from flintlog.incremental.rows.net_changes import NEVER, NO_ROWS, lost_and_gained, lost_and_gained_of_all
from flintlog.incremental.rows.relation_block import RelationBlock
from flintlog.io.column_facts import ColumnFacts

UNKNOWN = -1
# So many rows are compared in the time that one place is sorted.
_SCANNED = 32
# A log is written anew when it has this many times the places that its rows need, and more.
MOST_GONE, FEW = 2, 100_000
# Rows that were computed again become the log, if they are this many times as many as the log has places.
MOST_NEW = 2
# Up to so many rows get their places one after the other; of more, tables grow at once for those that are missing.
_ENTERED_ONE_BY_ONE = 1000
# Up to so many rows are packed for values that may come, before any does.
_PACKED_BEFOREHAND = 1 << 14
# So many rows that were computed again are looked up at a time: memory that was never touched before, as for the
# columns of all, is dear (a millisecond a megabyte on a virtual machine).
_AT_A_TIME = 1 << 15
# Kernels get room for so many new rows at least.
FEW_NEW = 64

_NO_DIFFERENCE = NO_ROWS, NO_ROWS

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class StoredRows:
    """The rows of a relation that are there, or given though others took their place, and what is known of each."""

    columns: list[Array]
    rounds: NDArray[np.int32]
    counts: NDArray[np.int32]
    given: NDArray[np.bool_]


class MaintainedRelation:
    """Rows are known by their place in the log, which they keep: one that goes has the round NEVER, and gets another
    when it comes again. Only where most rows are others is there another log, and something else to keep it. Between
    updates `old` and `new` are the same. `counts` are of `new`; a row has none, UNKNOWN, until an update
    asks how many derivations it would have to lose. `given` are facts: rows that need no rule."""

    def __init__(self, relation: Relation) -> None:
        relation.outlive_run()
        self.relation = relation
        self.places = RowPlaces(relation)
        self.old: NDArray[np.int32] = np.full(64, NEVER, np.int32)
        self.new: NDArray[np.int32] = np.full(64, NEVER, np.int32)
        self.counts: NDArray[np.int32] = np.full(64, UNKNOWN, np.int32)
        self.given: NDArray[np.bool_] = np.zeros(64, np.bool_)
        self.known = 0  # rows of the log that have their entries here
        self.size = 0  # rows that are there now, or were before an update that is not done
        self.before: MaintainedRelation | None = None  # what an update that is not done has replaced by this
        self._touched: list[Array] = []
        self._is_all_touched = False  # instead of saying which
        self.block = RelationBlock(relation, self.places)
        self.block.point(self.old, self.new, self.counts)
        self._difference: tuple[Array, Array] | None = None  # the rows lost and gained, once somebody has asked
        self._counts_before: list[tuple[Array, NDArray[np.int32]]] = []
        self._given_before: list[tuple[Array, NDArray[np.bool_]]] = []
        # The rows that an update has computed again, if they shall be the log after it.
        self._computed: tuple[Relation, NDArray[np.int32]] | None = None

    # --- Rows -------------------------------------------------------------------------------------

    def start(self, rounds: NDArray[np.int32]) -> None:
        """All rows of the log are there, since these rounds."""
        self._grow(rounds.size + rounds.size // 8)  # the first rows that come shall not have to move all others
        self.known = rounds.size
        self.old[: rounds.size] = self.new[: rounds.size] = rounds
        self.size = int(rounds.size)

    def restore(self, rows: StoredRows) -> None:
        """All rows are there as they were kept: the relation has none yet."""
        size = rows.rounds.size
        self.relation.take(rows.columns, size)
        self.start(rows.rounds)
        self.counts[:size], self.given[:size] = rows.counts, rows.given
        self.size = int(np.count_nonzero(rows.rounds != NEVER))

    def find(self, columns: Sequence[Array], size: int) -> Array:
        """The places of rows, -1 for those that never were."""
        return self.places.find(columns, size)

    def enter(self, columns: Sequence[Array], size: int) -> Array:
        """The places of rows; those that never were get one, and are still not there."""
        found = np.empty(size, np.int64)
        done = self._enter_by_kernel(columns, size, found)
        if done < size:
            found[done:] = self._enter_others([column[done:] for column in columns], size - done)
        return found

    def _enter_by_kernel(self, columns: Sequence[Array], size: int, found: Array) -> int:
        """Few rows, as far as they need not be packed anew; returns how many were done."""
        if self.relation.ranges is None or not columns or size > _ENTERED_ONE_BY_ONE:
            return 0
        held, done, stuck = self.places.point_at(columns), 0, -1
        try:
            while True:
                self.let_in()
                done = kernels().enter_columns(self.block.address, done, size, address(found))
                if done in (size, stuck):
                    return done
                if self.relation.size >= self.block[up.K_ROOM]:
                    self.make_room()
                    continue
                ranges, stuck = [range_of(column[done:]) for column in held], done
                if not self.relation.fits(ranges):
                    return done
                self.relation.prepare(ranges)
        finally:
            self.catch_up()

    def _enter_others(self, columns: Sequence[Array], size: int) -> Array:
        found = self.find(columns, size)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            others, before = [column[missing] for column in columns], self.relation.size
            self.relation.insert(others, missing.size)
            self.relation.next_round()
            self._grow(self.relation.size)
            if self.relation.size == before + missing.size:  # all were different: they stand in their order
                found[missing] = np.arange(before, self.relation.size)
            else:
                found[missing] = self.find(others, missing.size)
        return found

    def enter_given(self, columns: Sequence[Array], size: int) -> None:
        """Rows are facts, though others may have taken the place of some."""
        places = self.enter(columns, size)  # first: it may make `given` longer
        self.given[places] = True

    def columns(self, places: Array) -> list[Array]:
        """The columns of some rows."""
        return self.relation.rows_at(places).columns()

    def facts(self, places: Array) -> ColumnFacts:
        """Some rows, for a run."""
        return ColumnFacts(tuple(self.columns(places)), places.size)

    def some(self, places: Array) -> SomeRows:
        """Some rows, to be looked at later."""
        if not places.size:
            return SomeRows(NO_ROWS, self.relation.packing, self.relation.arity, 0)
        return self.relation.rows_at(places)

    def is_whole(self) -> bool:
        """Whether all rows of the log are there now, so that it can stand for the relation."""
        if not self._is_changed():
            return self.size == self.known
        lost, gained = self.lost_and_gained()
        return self.size + gained.size - lost.size == self.known

    def present(self) -> Array:
        """The places of the rows that are there now."""
        return np.flatnonzero(self.new[: self.known] != NEVER)

    def stored(self) -> StoredRows:
        rows = np.flatnonzero((self.new[: self.known] != NEVER) | self.given[: self.known])
        if rows.size == self.known:  # nothing has to be chosen
            known = slice(0, self.known)
            return StoredRows(self.relation.columns(), self.new[known], self.counts[known], self.given[known])
        return StoredRows(self.columns(rows), self.new[rows], self.counts[rows], self.given[rows])

    def _grow(self, rows: int) -> None:
        self._make_room(rows)
        self.known = max(self.known, rows)

    def _make_room(self, rows: int) -> None:
        if rows > self.old.size:
            room = max(rows, self.old.size * 3 // 2, 64)
            self.old, self.new = _longer(self.old, room, NEVER), _longer(self.new, room, NEVER)
            self.counts, self.given = _longer(self.counts, room, UNKNOWN), _longer(self.given, room, False)
            self.block.point(self.old, self.new, self.counts)

    # --- Kernels ----------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Takes over the rows that kernels have entered."""
        if self.relation.size != self.relation.visible:
            self.relation.next_round()
        self._grow(self.relation.size)

    def begin(self, late: Array, come: Array) -> None:
        """Kernels update the relation, whose facts have gone and come already."""
        self.block.begin(self.old.size, late, come)
        self.let_in()

    def make_room(self) -> None:
        """Makes room for rows that kernels, or facts, may bring."""
        more = max(FEW_NEW, self.relation.size // 8)
        self._make_room(self.relation.size + more)
        self.let_in(more)

    def make_ready(self, *, changes: bool) -> None:
        """The same, before anybody needs it; and what updates need that change the relation, if some will."""
        self.make_room()
        if changes:
            self.block.make_ready(self.old.size)

    def make_room_for_symbols(self, positions: Sequence[int], known: int) -> None:
        """Some columns may get any of the symbols that are known, and more, without packing rows anew; not where that
        would leave no bits for what else may come."""
        if self.relation.ranges is None or not positions or self.known > _PACKED_BEFOREHAND:
            return
        ranges = list(self.relation.ranges)
        for position in positions:
            ranges[position] = 0, max(known + known // 8, ranges[position][1])
        if packing_for(ranges) == packing_for(ranges, spare_bits=0):
            return
        self.relation.prepare(ranges)
        self.relation.outlive_run()  # the set that suits these ranges

    def make_room_for(self, row: Sequence[int]) -> None:
        """Kernels may enter this row, and more."""
        if self.relation.ranges is None:
            self.relation.prepare([(value, value) for value in row])
        self.make_room()

    def let_in(self, more: int = 0) -> None:
        """Kernels may enter so many rows, or as many as there is room for. The first one says what values there are."""
        size = self.relation.size
        rooms = size + self.relation.reserve(more), self.places.reserve(size + more), self.old.size
        self.block[up.K_ROOM] = min(rooms) if self.relation.ranges is not None else 0

    def take_over(self) -> None:
        """What kernels have changed."""
        self.catch_up()
        places, counts = self.block.saved()
        if places.size:
            self._touched.append(places)
            self._counts_before.append((places, counts))
            self._difference = None

    # --- An update --------------------------------------------------------------------------------

    def set_round(self, places: Array, round: int | NDArray[np.int32]) -> None:
        self._touched.append(places)
        self._difference = None
        self.new[places] = round

    def set_counts(self, places: Array, counts: Array) -> None:
        self._counts_before.append((places, self.counts[places]))
        self.counts[places] = counts

    def forget_counts(self) -> None:
        known = np.flatnonzero(self.counts[: self.known] != UNKNOWN)
        self.set_counts(known, np.full(known.size, UNKNOWN))

    def set_given(self, places: Array, given: bool) -> None:
        self._given_before.append((places, self.given[places]))
        self.given[places] = given

    def change_facts(self, late: Array, come: Array) -> None:
        """Rows that are facts no longer, and such that now are: they come before all rules, in one way."""
        if late.size:
            self.set_round(late, NEVER)
        if come.size:
            self.set_round(come, 0)
            self.set_counts(come, np.ones(come.size, np.int64))

    def changed(self) -> Array:
        """The places of rows whose round is another than before the update."""
        if self._are_many_touched():
            return np.flatnonzero(self.old[: self.known] != self.new[: self.known])
        if not self._touched:
            return NO_ROWS
        rows = each_once(np.concatenate(self._touched))
        changed: Array = rows[self.old[rows] != self.new[rows]]
        return changed

    def _are_many_touched(self) -> bool:
        """Whether all rows are looked at in less time than those that an update has touched."""
        touched = sum(places.size for places in self._touched)
        return self._is_all_touched or self.before is not None or touched * _SCANNED > self.known

    def is_settled(self) -> bool:
        """Whether no update has done anything that has to be kept, or taken back."""
        return not self._is_changed() and not (self._counts_before or self._given_before)

    def _is_changed(self) -> bool:
        """Whether an update has got as far as this relation, and done something."""
        return self._is_all_touched or bool(self._touched) or self.before is not None

    def lost_and_gained(self) -> tuple[Array, Array]:
        """In order."""
        if self._difference is None:
            if not self._is_changed():
                return _NO_DIFFERENCE
            if self._are_many_touched():
                self._difference = lost_and_gained_of_all(self.old[: self.known], self.new[: self.known])
            else:
                self._difference = lost_and_gained(self.old, self.new, self._touched)
        return self._difference

    def keep(self) -> None:
        """The update is done."""
        lost, gained = self.lost_and_gained()
        self.size += gained.size - lost.size
        if self._are_many_touched():
            self.old[: self.known] = self.new[: self.known]
        else:
            for places in self._touched:
                self.old[places] = self.new[places]
        self.before, self._difference = None, None
        self._touched, self._counts_before, self._given_before = [], [], []
        self._is_all_touched = False

    def take_back(self) -> None:
        """There was no update."""
        self.take_back_rounds()
        for places, given in reversed(self._given_before):
            self.given[places] = given
        self._given_before, self._computed = [], None

    def take_back_rounds(self) -> None:
        """Of an update, only what is given has changed."""
        if self._is_all_touched:
            self.new[: self.known] = self.old[: self.known]
        for places in self._touched:
            self.new[places] = self.old[places]
        for places, counts in reversed(self._counts_before):
            self.counts[places] = counts
        self._touched, self._counts_before, self._difference = [], [], None
        self._is_all_touched = False

    # --- Other logs -------------------------------------------------------------------------------

    def computed_again(self, relation: Relation, rounds: NDArray[np.int32]) -> MaintainedRelation:
        """What is kept if the rows there are now are those of a relation, since these rounds: this, or, where most rows
        are new, another whose log is the relation."""
        if relation.size > MOST_NEW * self.known:
            return self._in(relation, rounds)
        self._is_all_touched, self._difference = True, None
        self.new[: self.known] = NEVER
        for start in range(0, relation.size, _AT_A_TIME):
            end = min(start + _AT_A_TIME, relation.size)
            columns = [relation.column(position, start, end) for position in range(relation.arity)]
            rows = self.enter(columns, end - start)  # which may put `new` elsewhere
            self.new[rows] = rounds[start:end]
        self.forget_counts()
        if self._is_mostly_gone(relation.size):
            self._computed = relation, rounds
        return self

    def _in(self, relation: Relation, rounds: NDArray[np.int32]) -> MaintainedRelation:
        """Rows that were there before get their places behind those of the relation, if they have none in it."""
        rows = np.flatnonzero((self.old[: self.known] != NEVER) | self.given[: self.known])
        other = MaintainedRelation(relation)
        other._grow(rounds.size)
        other.new[: rounds.size] = rounds
        where = other.enter(self.columns(rows), rows.size)
        other.old[where], other.given[where] = self.old[rows], self.given[rows]
        other.size, other.before = self.size, self
        return other

    def without_what_is_gone(self) -> MaintainedRelation:
        """Rows that go keep their places in case that they come again. Where most are of these, another log has those
        that are there, after an update."""
        computed, self._computed = self._computed, None
        if not self._is_mostly_gone(self.size):
            return self
        if computed is None:
            rows = self.stored()
            other = MaintainedRelation(Relation(self.relation.name, self.relation.arity))
            other.restore(rows)
            return other
        given = np.flatnonzero(self.given[: self.known])
        other = MaintainedRelation(computed[0])
        other.start(computed[1])
        other.enter_given(self.columns(given), given.size)
        return other

    def _is_mostly_gone(self, size: int) -> bool:
        return self.known > MOST_GONE * size + FEW


def _longer(values: NDArray[T], room: int, empty: Any) -> NDArray[T]:
    result = np.full(room, empty, values.dtype)
    result[: values.size] = values
    return result


def current(kept: Mapping[str, MaintainedRelation], names: Iterable[str]) -> dict[str, Relation]:
    """Some relations as they are now, for a run: copies of those whose logs have rows that are gone."""
    guarded = Resources(MemoryGuard())
    return {
        name: some.relation if some.is_whole() else some.relation.copy(some.present(), guarded)
        for name, some in [(name, kept[name]) for name in names]
    }

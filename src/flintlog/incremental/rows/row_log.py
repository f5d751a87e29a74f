"""The rows of a relation by their positions in its log, and room for more of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.packing import Array, packing_for, range_of
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.row_places import RowPlaces
from flintlog.engines.local.storage.some_rows import SomeRows
from flintlog.incremental.rows.net_changes import NO_ROWS
from flintlog.incremental.rows.relation_block import RelationBlock
from flintlog.incremental.rows.row_rounds import RowRounds
from flintlog.io.column_facts import ColumnFacts

# Up to so many rows are entered one after the other; of more, tables grow at once for those that are missing.
_ENTERED_ONE_BY_ONE = 1000
# Up to so many rows are packed for values that may come, before any does.
_PACKED_BEFOREHAND = 1 << 14
# Kernels get room for so many new rows at least.
FEW_NEW = 64


class RowLog:
    """A row keeps its position when it goes, and has it again when it comes again. `places` finds the position of a
    row, `rounds` has what is known of the row at each position."""

    def __init__(self, relation: Relation) -> None:
        relation.outlive_run()
        self.relation, self.places = relation, RowPlaces(relation)
        self.block = RelationBlock(relation, self.places)
        self.rounds = RowRounds(self.block)

    def find(self, columns: Sequence[Array], size: int) -> Array:
        """The positions of rows, -1 for those that never were."""
        return self.places.find(columns, size)

    def columns(self, rows: Array) -> list[Array]:
        return self.relation.rows_at(rows).columns()

    def facts(self, rows: Array) -> ColumnFacts:
        """Rows as the facts of a run."""
        return ColumnFacts(tuple(self.columns(rows)), rows.size)

    def some(self, rows: Array) -> SomeRows:
        """Rows whose columns are made when they are asked for."""
        if not rows.size:
            return SomeRows(NO_ROWS, self.relation.packing, self.relation.arity, 0)
        return self.relation.rows_at(rows)

    # --- Rows that come ---------------------------------------------------------------------------

    def enter(self, columns: Sequence[Array], size: int) -> Array:
        """The positions of rows. Those that never were get one, and do not hold yet."""
        found = np.empty(size, np.int64)
        done = self._enter_by_kernel(columns, size, found)
        if done < size:
            found[done:] = self._enter_at_once([column[done:] for column in columns], size - done)
        return found

    def _enter_by_kernel(self, columns: Sequence[Array], size: int, found: Array) -> int:
        """Few rows, as far as they need not be packed anew; returns how many were entered."""
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

    def _enter_at_once(self, columns: Sequence[Array], size: int) -> Array:
        found = self.find(columns, size)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            others, before = [column[missing] for column in columns], self.relation.size
            self.relation.insert(others, missing.size)
            self.relation.next_round()
            self.rounds.grow(self.relation.size)
            if self.relation.size == before + missing.size:  # all were different: they stand in their order
                found[missing] = np.arange(before, self.relation.size)
            else:
                found[missing] = self.find(others, missing.size)
        return found

    def enter_given(self, columns: Sequence[Array], size: int) -> None:
        """Enters facts, which need not hold: a better row, or an earlier one, may stand for them."""
        rows = self.enter(columns, size)  # first: it may make `given` longer
        self.rounds.given[rows] = True

    def catch_up(self) -> None:
        """Takes over the rows that kernels have entered."""
        if self.relation.size != self.relation.visible:
            self.relation.next_round()
        self.rounds.grow(self.relation.size)

    # --- Room for rows that kernels enter ---------------------------------------------------------

    def let_in(self, more: int = 0) -> None:
        """Lets kernels enter so many rows, or as many as there is room for: none into a log without rows, since the
        first row says how rows are packed."""
        size = self.relation.size
        rooms = size + self.relation.reserve(more), self.places.reserve(size + more), self.rounds.old.size
        self.block[up.K_ROOM] = min(rooms) if self.relation.ranges is not None else 0

    def make_room(self) -> None:
        more = max(FEW_NEW, self.relation.size // 8)
        self.rounds.make_room(self.relation.size + more)
        self.let_in(more)

    def make_room_for(self, row: Sequence[int]) -> None:
        """Makes room for this row, and more."""
        if self.relation.ranges is None:
            self.relation.prepare([(value, value) for value in row])
        self.make_room()

    def make_room_for_symbols(self, columns: Sequence[int], known: int) -> None:
        """Lets some columns hold any symbol that is known, and more, without packing rows anew; not where that would
        leave no bits for other values."""
        if self.relation.ranges is None or not columns or self.rounds.known > _PACKED_BEFOREHAND:
            return
        ranges = list(self.relation.ranges)
        for column in columns:
            ranges[column] = 0, max(known + known // 8, ranges[column][1])
        if packing_for(ranges) == packing_for(ranges, spare_bits=0):
            return
        self.relation.prepare(ranges)
        self.relation.outlive_run()  # the set that suits these ranges

    def make_ready(self, *, changes: bool) -> None:
        """Makes room before an update needs it, also for the lists of an update that changes the relation."""
        self.make_room()
        if changes:
            self.block.make_ready(self.rounds.old.size)

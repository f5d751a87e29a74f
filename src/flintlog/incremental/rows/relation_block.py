"""The block through which kernels reach a maintained relation: the addresses of its rows, rounds and counts, and of the
lists of rows that an update of its stratum changes."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.library import address
from flintlog.engines.local.storage.block import Block
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.row_places import RowPlaces

# Lists have room for so many rows at least.
_LEAST_ROOM = 256


class RelationBlock(Block):
    """Lists have rows while a stratum is updated, and only then."""

    def __new__(cls, relation: Relation, places: RowPlaces) -> Self:
        return super().__new__(cls, up.KEPT_WORDS)

    def __init__(self, relation: Relation, places: RowPlaces) -> None:
        self[up.K_RELATION], self[up.K_PLACES] = relation.block.address, places.block.address
        self._marks: NDArray[np.int32] = np.zeros(0, np.int32)
        self._lists: Array = np.empty((3, 0), np.int64)
        self._saved: Array = np.empty(0, np.int64)
        self._read: tuple[Array, Array] | None = None  # lists that the update of a stratum below has made
        self._is_of_others = True  # whether the block points to these, and not to lists of its own

    def point(self, old: NDArray[np.int32], new: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
        """Tells kernels where the arrays of rounds and counts are."""
        self[up.K_OLD], self[up.K_NEW], self[up.K_COUNTS] = address(old), address(new), address(counts)
        if self._marks.size:
            self._mark(new.size)

    def _mark(self, rows: int) -> None:
        self._marks = np.zeros(rows, np.int32)  # no row is being settled where rows are entered
        self[up.K_MARKS] = address(self._marks)

    # --- The relations that an update reads -------------------------------------------------------

    def read(self, late: Array, come: Array) -> None:
        """Lists rows that an update of a stratum below has taken away, and brought."""
        self._is_of_others = True
        self._read = late, come = np.ascontiguousarray(late), np.ascontiguousarray(come)
        self[up.K_LATE], self[up.K_NLATE], self[up.K_COME], self[up.K_NCOME] = (
            address(late),
            late.size,
            address(come),
            come.size,
        )

    def end(self) -> None:
        """Empties all lists."""
        self[up.K_NLATE] = self[up.K_NCOME] = self[up.K_NASKED] = self[up.K_NSAVED] = 0
        self._read = None

    def make_ready(self, rows: int) -> None:
        """Makes the arrays that an update of a relation with room for so many rows needs."""
        if self._marks.size < rows:
            self._mark(rows)
        self.make_lists(_LEAST_ROOM)

    # --- The relations that it changes ------------------------------------------------------------

    def begin(self, rows: int, late: Array, come: Array) -> None:
        """Lists facts that have gone and come; the relation has room for so many rows."""
        self.make_ready(rows)
        self.make_lists(max(late.size, come.size))
        if self._is_of_others:
            self._point_at_lists()
        self._lists[0, : late.size], self._lists[1, : come.size] = late, come
        self[up.K_NLATE], self[up.K_NCOME] = late.size, come.size

    def make_lists(self, rows: int) -> None:
        """Makes room for so many rows in each list, and for as many changes."""
        if rows > self._lists.shape[1]:
            longer = np.empty((3, 2 * rows), np.int64)
            longer[:, : self._lists.shape[1]] = self._lists
            self._lists = longer
            self._point_at_lists()
        wanted = 2 * (self[up.K_NSAVED] + rows)
        if wanted > self._saved.size:
            self._saved = np.concatenate((self._saved, np.empty(2 * wanted - self._saved.size, np.int64)))
            self[up.K_SAVED], self[up.K_SAVED_ROOM] = address(self._saved), self._saved.size // 2

    def _point_at_lists(self) -> None:
        self._is_of_others = False
        late, come, asked = self._lists
        self[up.K_LATE], self[up.K_COME], self[up.K_ASKED] = address(late), address(come), address(asked)
        self[up.K_CAPACITY] = self._lists.shape[1]

    def saved(self) -> tuple[Array, NDArray[np.int32]]:
        """The positions of changed rows, and the counts that they had, the last change first."""
        pairs = self._saved[: 2 * self[up.K_NSAVED]]
        return pairs[-2::-2].copy(), pairs[-1::-2].astype(np.int32)

    def rows(self, which: int) -> Array:
        """A copy of one of the lists: K_LATE, K_COME, K_ASKED."""
        lists = {up.K_LATE: (0, up.K_NLATE), up.K_COME: (1, up.K_NCOME), up.K_ASKED: (2, up.K_NASKED)}
        number, length = lists[which]
        of = self._read[number] if self._read is not None else self._lists[number]
        return of[: self[length]].copy()

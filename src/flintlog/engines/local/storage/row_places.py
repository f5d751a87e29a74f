"""Where a row stands in its relation's log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.block import Block
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation

MIN_BITS = 6


class RowPlaces:
    """Places of all rows of a relation, also of those that are not visible. A relation has fewer than 2**31 rows."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._layout, self._end, self._bits = -1, 0, 0
        self._table = np.zeros(1, np.uint32)
        # One word more than there are values: kernels that enter a row need it.
        self._row, self._values = Block(relation.arity), Block(relation.arity + 1)
        self.block = Block(at.W_COLUMNS + relation.arity)
        self.block[at.W_RELATION], self.block[at.W_ROW] = relation.block.address, self._row.address
        self.block[at.W_VALUES] = self._values.address

    def find(self, columns: Sequence[Array], size: int) -> Array:
        """The place of each row, -1 for one that is not there."""
        self.sync()
        places = np.empty(size, np.int64)
        held = self.point_at(columns)
        kernels().find_rows(self.block.address, size, address(places))
        del held
        return places

    def point_at(self, columns: Sequence[Array]) -> list[Array]:
        """Tells kernels where columns are; returns what has to stay there meanwhile."""
        held = [np.ascontiguousarray(column) for column in columns]
        for position, column in enumerate(held):
            self.block[at.W_COLUMNS + position] = address(column)
        return held

    def sync(self) -> None:
        """Enters the rows that have come."""
        if self._layout != self.relation.layout or self._end != self.relation.size:
            self.reserve(self.relation.size)

    def reserve(self, rows: int) -> int:
        """The same, with room for so many rows; returns for how many there is room."""
        relation = self.relation
        end = relation.size
        if self._layout != relation.layout or rows * 8 > 5 << self._bits:
            self._bits = max(MIN_BITS, (rows * 2).bit_length())
            self._table = np.zeros(1 << self._bits, np.uint32)
            self._layout, self._end = relation.layout, 0
            self.block[at.W_TABLE], self.block[at.W_BITS] = address(self._table), self._bits
        kernels().enter_rows(self.block.address, self._end, end)
        self._end = end
        return (5 << self._bits) // 8

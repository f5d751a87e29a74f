"""Where a row stands in its relation's log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels.layout import W_BITS, W_COLUMNS, W_RELATION, W_ROW, W_TABLE
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
        self._row = Block(relation.arity)
        self._block = Block(W_COLUMNS + relation.arity)
        self._block[W_RELATION], self._block[W_ROW] = relation.block.address, self._row.address

    def find(self, columns: Sequence[Array], size: int) -> Array:
        """The place of each row, -1 for one that is not there."""
        self.sync()
        places = np.empty(size, np.int64)
        kept = [np.ascontiguousarray(column) for column in columns]
        for position, column in enumerate(kept):
            self._block[W_COLUMNS + position] = address(column)
        kernels().find_rows(self._block.address, size, address(places))
        return places

    def sync(self) -> None:
        """Enters the rows that have come."""
        relation = self.relation
        end = relation.size
        if self._layout == relation.layout and self._end == end:
            return
        if self._layout != relation.layout or end * 8 > 5 << self._bits:
            self._bits = max(MIN_BITS, (end * 2).bit_length())
            self._table = np.zeros(1 << self._bits, np.uint32)
            self._layout, self._end = relation.layout, 0
            self._block[W_TABLE], self._block[W_BITS] = address(self._table), self._bits
        kernels().enter_rows(self._block.address, self._end, end)
        self._end = end

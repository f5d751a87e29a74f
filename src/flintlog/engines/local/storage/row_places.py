"""Where a row stands in its relation's log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation

MIN_BITS = 6


class RowPlaces:
    """Places of all rows of a relation, also of those that are not visible. A relation has fewer than 2**31 rows."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self._layout, self._end, self._bits = -1, 0, 0
        self._table = np.zeros(1, np.uint32)

    def find(self, columns: Sequence[Array], size: int) -> Array:
        """The place of each row, -1 for one that is not there."""
        self._sync()
        relation, places = self.relation, np.empty(size, np.int64)
        words = self._laid_out(columns, size)
        kernels().find_rows(
            relation.block.address, address(self._table), self._bits, address(words), size, address(places)
        )
        return places

    def _laid_out(self, columns: Sequence[Array], size: int) -> Array:
        """Rows as the log has them."""
        if not columns:
            return np.zeros(size, np.int64)  # all rows without columns are one
        kept = [np.ascontiguousarray(column) for column in columns]
        addresses = np.array([address(column) for column in kept], np.int64)
        words = np.empty(size if self.relation.is_packed else size * len(kept), np.int64)
        kernels().lay_rows(self.relation.block.address, address(addresses), size, address(words))
        return words

    def _sync(self) -> None:
        relation = self.relation
        end = relation.size
        if self._layout == relation.layout and self._end == end:
            return
        if self._layout != relation.layout or end * 8 > 5 << self._bits:
            self._bits = max(MIN_BITS, (end * 2).bit_length())
            self._table = np.zeros(1 << self._bits, np.uint32)
            self._layout, self._end = relation.layout, 0
        kernels().enter_rows(relation.block.address, address(self._table), self._bits, self._end, end)
        self._end = end

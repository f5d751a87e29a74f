"""An index: a relation's visible rows by the values of some columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.block import Block, Log, block_of
from flintlog.engines.local.storage.packing import Packing, packing_for

if TYPE_CHECKING:
    from flintlog.engines.local.storage.relation import Relation

# Groups are addressed by the key itself while that takes at most this many entries a row, or as many as this in all.
DENSE_FACTOR = 4
DENSE_DOMAIN = 1 << 16
# Chains as long as this are never ordered; longer ones when they hold half as many rows as the ordered part.
CHAINED = 1 << 10
# Kernels get room for so many rows.
FEW_MORE = 1 << 9
# Rows that are entered before the table is looked after.
STEP = 1 << 16
MIN_BITS = 6


@dataclass(frozen=True)
class Filter:
    """Only rows that have, in `columns`, what some row of another relation has in its columns `key`. The other relation
    does not change any more."""

    other: Relation
    key: tuple[int, ...]
    columns: tuple[int, ...]


class Index:
    """Groups of rows that agree in the key columns: the older rows of each ordered, the newer ones in a chain."""

    def __init__(
        self,
        relation: Relation,
        key: tuple[int, ...],
        filters: tuple[Filter, ...],
        request: Callable[[int], None],
    ) -> None:
        self._relation, self._key, self._request = relation, key, request
        self.block = Block(at.X_KEYS + at.KEY_WORDS * len(key))
        self.block[at.X_RELATION], self.block[at.X_NKEYS] = relation.block.address, len(key)
        self._layout = -1
        self._end = self._base = 0
        self.used = False  # whether somebody asked for it since rows last became visible
        self._packing: Packing | None = None
        self._heads, self._next, self._first = Log(request), Log(request), Log(request)
        self._table = self._offsets = self._ordered = np.zeros(1, np.int64)
        self._add_filters(filters)

    def _add_filters(self, filters: tuple[Filter, ...]) -> None:
        self._filters = Block(at.FILTER_WORDS * len(filters))
        self._kept: list[object] = [filters]  # what the block points to
        for place, f in enumerate(filters):
            where, names = at.FILTER_WORDS * place, block_of(range(len(f.columns)))
            values, columns, other = Block(len(f.columns)), block_of(f.columns), f.other.index(f.key)
            self._filters[where + at.F_INDEX], self._filters[where + at.F_VALUES] = other.block.address, values.address
            self._filters[where + at.F_NAMES], self._filters[where + at.F_COLUMNS] = names.address, columns.address
            self._filters[where + at.F_COUNT] = len(f.columns)
            self._kept += [names, values, columns, other]
        self.block[at.X_NFILTERS], self.block[at.X_FILTERS] = len(filters), self._filters.address

    def sync(self) -> None:
        """Takes in the rows that have become visible."""
        relation, end = self._relation, self._relation.visible
        if not self._key:
            self.block[at.X_KIND] = at.INDEX_ALL
            return
        if self._layout == relation.layout and end == self._end:
            return  # also where ranges have grown: the rows that are here fit
        self._end = self.block[at.X_END]  # kernels may have gone on by themselves
        if self._layout != relation.layout or not self._covers():
            self._reset(end)
        if end - self._base > self._most_chained():
            self._order(end)
        else:
            self._chain(end)
        self._end = end

    def make_room(self) -> None:
        """Makes room for rows that kernels may bring."""
        if self._key:
            self._next.reserve(self._end - self._base + FEW_MORE)
            self._reserve(FEW_MORE)
            self._publish()

    def _covers(self) -> bool:
        """Whether the index's own keys fit the values: in rows of words, these may have grown."""
        if self._relation.is_packed or self._packing is None or self._relation.ranges is None:
            return True
        return self._packing.covers([self._relation.ranges[position] for position in self._key])

    def _reset(self, rows: int) -> None:
        relation = self._relation
        self._layout = relation.layout
        ranges = relation.packing.ranges() if relation.packing is not None else relation.ranges
        own = [ranges[position] if ranges is not None else (0, 0) for position in self._key]
        self._packing = packing_for(own, spare_bits=0 if relation.is_packed else 1)
        for k, position in enumerate(self._key):
            where = at.X_KEYS + at.KEY_WORDS * k
            self.block[where] = position
            if self._packing is not None:
                self.block[where + 1], self.block[where + 2] = self._packing.lows[k], self._packing.shifts[k]
                self.block[where + 3] = (1 << self._packing.widths[k]) - 1
        self._end = self._base = 0
        self.block[at.X_END] = self.block[at.X_BASE] = self.block[at.X_BASE_GROUPS] = 0
        self._choose_kind(rows)

    def _choose_kind(self, rows: int) -> None:
        """Forgets all groups."""
        if self._packing is not None and 1 << self._packing.bits <= max(DENSE_FACTOR * rows, DENSE_DOMAIN):
            domain = 1 << self._packing.bits
            self._heads.reserve(domain)
            self._heads.array[:domain] = -1
            self._table = np.zeros(1, np.int64)
            self.block[at.X_KIND], self.block[at.X_GROUPS] = at.INDEX_DENSE, domain
        else:
            self.block[at.X_KIND] = at.INDEX_WIDE if self._packing is None else at.INDEX_HASH
            self.block[at.X_GROUPS] = 0
            self._new_table(MIN_BITS)
        self._publish()

    def _publish(self) -> None:
        self.block[at.X_HEADS], self.block[at.X_NEXT] = self._heads.address, self._next.address
        self.block[at.X_FIRST] = self._first.address
        self.block[at.X_TABLE] = address(self._table)
        self.block[at.X_OFFSETS], self.block[at.X_ORDERED] = address(self._offsets), address(self._ordered)
        self.block[at.X_ROOM] = self._base + min(self._next.capacity, self._most_chained())

    def _most_chained(self) -> int:
        """So many rows may be in chains before all are ordered anew."""
        return max(CHAINED, self._base // 2)

    def _new_table(self, bits: int) -> None:
        words = 1 if self.block[at.X_KIND] == at.INDEX_WIDE else 2
        self._request(8 * words << bits)
        self._table = np.zeros(words << bits, np.int64)
        self.block[at.X_BITS] = bits
        self._heads.reserve(1 << (bits - 1))
        if self.block[at.X_KIND] == at.INDEX_WIDE:
            self._first.reserve(1 << (bits - 1))

    def _reserve(self, more: int) -> None:
        """Makes room for that many further groups: half the slots stay free."""
        if self.block[at.X_KIND] == at.INDEX_DENSE:
            return
        wanted, bits = self.block[at.X_GROUPS] + more, self.block[at.X_BITS]
        if wanted > 1 << (bits - 1):
            old = self._table
            self._new_table((2 * wanted - 1).bit_length())
            self._publish()
            if self.block[at.X_KIND] == at.INDEX_HASH:
                kernels().move_pairs(address(old), bits, address(self._table), self.block[at.X_BITS])
            else:
                kernels().fill_wide(self.block.address)

    def _chain(self, end: int) -> None:
        if end - self._base > self._next.capacity:
            self._next.reserve(end - self._base)
            self._publish()
        for start in range(self._end, end, STEP):
            stop = min(end, start + STEP)
            self._reserve(stop - start)
            kernels().extend_chains(self.block.address, stop)

    def _order(self, end: int) -> None:
        dense = self.block[at.X_KIND] == at.INDEX_DENSE
        if not dense and self._packing is not None and 1 << self._packing.bits <= DENSE_FACTOR * end:
            self._choose_kind(end)
        self._order_range(0, end)

    def _order_range(self, first: int, end: int) -> None:
        groups = np.empty(end - first, np.int64)
        place = address(groups) - 8 * first
        for start in range(first, end, STEP):
            stop = min(end, start + STEP)
            self._reserve(stop - start)
            kernels().number_groups(self.block.address, start, stop, place)
        count = self.block[at.X_GROUPS]
        self._request(8 * (count + 2 + end - first))
        self._offsets = self._ordered = np.zeros(1, np.int64)  # gives the old ones back first
        offsets, ordered = np.zeros(count + 2, np.int64), np.empty(end - first, np.int64)
        kernels().order_rows(self.block.address, first, end, place, address(offsets), address(ordered))
        self._offsets, self._ordered = offsets, ordered
        self._heads.array[:count] = -1
        self._base = end
        self.block[at.X_BASE], self.block[at.X_BASE_GROUPS], self.block[at.X_END] = end, count, end
        self._publish()


class DeltaIndex(Index):
    """The rows of the delta alone."""

    def __init__(self, relation: Relation, key: tuple[int, ...], request: Callable[[int], None]) -> None:
        super().__init__(relation, key, (), request)
        self._range = (0, 0)

    def sync(self) -> None:
        delta, visible = self._relation.delta, self._relation.visible
        if self._layout == self._relation.layout and self._range == (delta, visible):
            return
        self._range = delta, visible
        self._reset(visible - delta)
        self._order_range(delta, visible)

    @property
    def groups(self) -> int:
        return self.block[at.X_GROUPS]

"""A relation's rows by the values of some columns: contiguous postings in runs, merged as the relation grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from flintlog.engines.local.kernels.groups import count_dense, fill_dense, probe_dense
from flintlog.engines.local.storage.numbering import Numbering, RowNumbering
from flintlog.engines.local.storage.packing import Array, Packing, Range, packing_for, range_of

# Offsets are addressed by the key itself while they take at most this many entries a row.
DENSE_FACTOR = 4
# The oldest run is rebuilt so seldom that it may be dense over a whole domain of this size.
DENSE_DOMAIN = 1 << 20

Columns = Callable[[int, int, int], Array]  # position, first row, end -> values


class Run:
    """The rows [start, end) of a relation, grouped by the values of the key columns."""

    def __init__(self, columns: Columns, key: tuple[int, ...], start: int, end: int) -> None:
        self.start, self.end = start, end
        self._columns = columns
        self._payload: dict[int, Array] = {}
        self._ranges: dict[int, Range] = {}
        self._packed: dict[tuple[int, Packing, int], Array] = {}
        values = [columns(position, start, end) for position in key]
        self._is_product = not key
        groups, count = (np.zeros(end - start, np.int64), 1) if not key else self._group(values)
        self.offsets = np.zeros(count + 1, np.int64)
        count_dense(groups, self.offsets)
        self.order = np.empty(end - start, np.int64)
        fill_dense(groups, self.offsets, self.order)

    def _group(self, values: Sequence[Array]) -> tuple[Array, int]:
        """The group of each row, and how many groups there are: the packed key itself where keys are dense, else the
        number of the key."""
        size = self.end - self.start
        self._packing: Packing | None = packing_for([range_of(v) for v in values], spare_bits=0)
        self._numbering: Numbering | RowNumbering | None = None
        if self._packing is None:
            self._numbering = RowNumbering(len(values))
            return self._numbering.add(values), self._numbering.count
        keys = self._packing.pack(values)
        domain = 1 << self._packing.bits
        # A run over the newest rows is built in every round: it must not cost more than the rows are worth.
        if domain <= DENSE_FACTOR * size + 1024 or (self.start == 0 and domain <= DENSE_DOMAIN):
            return keys, domain
        self._numbering = Numbering()
        return self._numbering.add(keys), self._numbering.count

    def _find(self, values: Sequence[Array]) -> Array:
        if self._packing is None:
            assert isinstance(self._numbering, RowNumbering)
            return self._numbering.find(values)
        keys = self._packing.pack_or_miss(values)
        if self._numbering is None:
            return keys
        assert isinstance(self._numbering, Numbering)
        return self._numbering.find(keys)

    def probe(self, values: Sequence[Array], size: int) -> tuple[Array, Array, int]:
        """Where the rows with each tuple of values begin and end in the run's order, and how many there are in all."""
        if self._is_product:
            rows = self.end - self.start
            return np.zeros(size, np.int64), np.full(size, rows, np.int64), size * rows
        low, high = np.empty(size, np.int64), np.empty(size, np.int64)
        return low, high, probe_dense(self._find(values), self.offsets, low, high)

    def packed(self, position: int, packing: Packing, column: int) -> Array:
        """What the values of a column contribute to keys of another relation, as its column `column`."""
        place = position, packing, column
        part = self._packed.get(place)
        if part is None:
            part = self._packed[place] = packing.part(column, self.payload(position))
        return part

    def range(self, position: int) -> Range:
        known = self._ranges.get(position)
        if known is None:
            known = self._ranges[position] = range_of(self.payload(position))
        return known

    def payload(self, position: int) -> Array:
        """A column's values in the run's order."""
        values = self._payload.get(position)
        if values is None:
            values = self._payload[position] = self._columns(position, self.start, self.end)[self.order]
        return values


class Arrangement:
    """Runs over adjacent ranges of rows. A run is merged with its neighbour when it is not much smaller, so that a row
    is moved as often as the logarithm of the relation's size."""

    def __init__(self, columns: Columns, key: tuple[int, ...]) -> None:
        self.columns, self.key = columns, key
        self.runs: list[Run] = []

    def runs_to(self, end: int) -> Iterator[Run]:
        """The runs that together hold the first `end` rows."""
        covered = self.runs[-1].end if self.runs else 0
        if covered < end:
            start = covered
            while self.runs and (self.runs[-1].end - self.runs[-1].start) < 2 * (end - start):
                start = self.runs.pop().start
            self.runs.append(Run(self.columns, self.key, start, end))
        return iter(self.runs)

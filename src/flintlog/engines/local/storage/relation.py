"""A relation: an append-only log of distinct rows, of which only the first `visible` are seen until the round ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from flintlog.engines.local.storage.arrangement import Arrangement, Run
from flintlog.engines.local.storage.bit_set import BitSet, pays_as_bits
from flintlog.engines.local.storage.key_set import KeySet
from flintlog.engines.local.storage.numbering import RowNumbering
from flintlog.engines.local.storage.packing import Array, Packing, Range, joined, packing_for, range_of
from flintlog.engines.memory import MemoryGuard


class Log:
    """An array that grows at its end, in place where the system can: a view does not outlive the next `append`."""

    def __init__(self, request: Callable[[int], None] = lambda size: None) -> None:
        self._array = np.empty(16, np.int64)
        self._request = request
        self.size = 0

    def append(self, values: Array) -> None:
        wanted = self.size + values.size
        if wanted > self._array.size:
            room = max(wanted, self._array.size * 5 // 4)
            self._request(8 * (room - self._array.size))
            self._array.resize(room, refcheck=False)
        self._array[self.size : wanted] = values
        self.size = wanted

    def view(self, start: int, end: int) -> Array:
        return self._array[start:end]


@dataclass(frozen=True)
class Resources:
    """What relations of a run share: threads, in `parts`, and the memory they may take."""

    parts: int = 1
    pool: ThreadPoolExecutor | None = None
    guard: MemoryGuard | None = None


_SMALL = Resources()


class Relation:
    """Rows as packed keys, while 62 bits hold a row; as columns beyond that. Delta is the range [delta, visible)."""

    def __init__(self, name: str, arity: int, resources: Resources = _SMALL) -> None:
        self.name, self.arity = name, arity
        self._resources = resources
        self.delta = self.visible = 0
        self.packing: Packing | None = None
        self._ranges: list[Range] | None = None
        self._keys = Log(self._request)
        self._set: KeySet | BitSet = self._new_set()
        self._columns: list[Log] = []
        self._rows: RowNumbering | None = None
        self._arrangements: dict[tuple[int, ...], Arrangement] = {}

    def empty(self) -> Relation:
        """A relation of the same name and arity without rows."""
        return Relation(self.name, self.arity, self._resources)

    def _request(self, size: int) -> None:
        if self._resources.guard is not None:
            self._resources.guard.request(size, self.name)

    def _new_set(self) -> KeySet:
        return KeySet(self._resources.parts, self._resources.pool, self._request)

    @property
    def size(self) -> int:
        """How many rows there are, those of the current round included."""
        if self.arity == 0:
            return len(self._set)
        return self._columns[0].size if self._rows is not None else self._keys.size

    def column(self, position: int, start: int, end: int) -> Array:
        if self._rows is not None:
            return self._columns[position].view(start, end).copy()
        assert self.packing is not None or start == end
        keys = self._keys.view(start, end)
        return self.packing.unpack(keys, position) if self.packing is not None else keys

    def runs(self, key: tuple[int, ...], end: int) -> list[Run]:
        """The first `end` rows arranged by the columns `key`."""
        arrangement = self._arrangements.get(key)
        if arrangement is None:
            arrangement = self._arrangements[key] = Arrangement(self.column, key)
        return list(arrangement.runs_to(end))

    def next_round(self) -> int:
        """Makes this round's rows the delta; returns how many there are."""
        self.delta, self.visible = self.visible, self.size
        return self.visible - self.delta

    # --- Insertion --------------------------------------------------------------------------------

    def prepare(self, ranges: Sequence[Range]) -> bool:
        """Makes room in the packing for values of these ranges; returns whether rows are packed at all."""
        if self._rows is not None:
            return False
        if self._ranges is not None:
            ranges = [joined(a, b) for a, b in zip(self._ranges, ranges, strict=True)]
        self._ranges = list(ranges)
        if self.packing is None or not self.packing.covers(ranges):
            self._repack(packing_for(ranges))
        return self.packing is not None

    def _repack(self, packing: Packing | None) -> None:
        columns = [self.column(p, 0, self.size) for p in range(self.arity)] if self.size else []
        if packing is None:
            self._rows = RowNumbering(self.arity)
            self._columns = [Log(self._request) for _ in range(self.arity)]
            if columns:
                self._rows.add(columns)
            for log, column in zip(self._columns, columns, strict=False):
                log.append(column)
            self._keys, self._set = Log(self._request), self._new_set()
        elif columns:
            keys = packing.pack(columns)
            self._keys, self._set = Log(self._request), self._new_set()
            self._keys.append(keys)
            self._set.insert(keys)
        self.packing = packing

    def insert(self, columns: Sequence[Array], size: int) -> None:
        """Adds rows that are not there yet."""
        if size == 0:
            return
        if self.arity == 0:
            self._set.insert(np.zeros(1, np.int64))
        elif self.prepare([range_of(column) for column in columns]):
            assert self.packing is not None
            for new in self._set.insert(self.packing.pack(columns)):
                self._keys.append(new)
            self._choose_set()
        else:
            self._insert_wide(columns)

    def _insert_wide(self, columns: Sequence[Array]) -> None:
        assert self._rows is not None
        known = self._rows.count
        numbers = self._rows.add(columns)
        fresh = np.flatnonzero(numbers >= known)
        # Numbers are given in order of appearance, so that the first row with each is where the maximum grows.
        first = fresh[np.unique(numbers[fresh], return_index=True)[1]]
        for log, column in zip(self._columns, columns, strict=True):
            log.append(column[first])

    def insert_join(self, left: Array, low: Array, high: Array, right: Array, total: int) -> None:
        """Adds the packed rows `left[i] | right[j]` of a join's groups."""
        for new in self._set.insert_join(left, low, high, right, total):
            self._keys.append(new)
        self._choose_set()

    def _choose_set(self) -> None:
        """Goes over to one bit a key when that is smaller; it is faster too."""
        if isinstance(self._set, KeySet) and self.packing is not None and pays_as_bits(self._set, self.packing.bits):
            self._set = BitSet(self.packing.bits, self._resources.pool)
            self._set.insert(self._keys.view(0, self._keys.size))

    def contains(self, columns: Sequence[Array], size: int) -> np.ndarray:
        """For each row whether the relation has it. Only for relations that do not grow any more."""
        if self.arity == 0 or self.size == 0:
            return np.full(size, self.size > 0)
        if self._rows is not None:
            return self._rows.find(columns) >= 0
        assert self.packing is not None
        return self._set.contains(self.packing.pack_or_miss(columns))

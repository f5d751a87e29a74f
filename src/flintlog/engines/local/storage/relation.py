"""A relation: an append-only log of distinct rows, of which only the first `visible` are seen until the round ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.block import Block, Log
from flintlog.engines.local.storage.index import DeltaIndex, Filter, Index
from flintlog.engines.local.storage.logged_rows import LoggedRows
from flintlog.engines.local.storage.packing import (
    Array,
    Packing,
    Range,
    as_word,
    joined,
    packing_for,
    range_of,
    stretched,
)
from flintlog.engines.local.storage.resources import Resources

MIN_BITS = 6
# Smaller sets have whole keys in their slots.
MIN_SHORT = 16
# One bit for every possible key may take this much memory, if it is no more than so much a row.
MAX_BIT_BYTES = 384 << 20
BIT_BYTES_A_ROW = 64
MIN_BIT_ROWS = 1 << 12

_UNLIMITED = Resources()


class Relation(LoggedRows):
    """Rows as packed keys while 62 bits hold one; as rows of words beyond that. The delta is [delta, visible)."""

    def __init__(self, name: str, arity: int, resources: Resources = _UNLIMITED) -> None:
        self.name, self.arity = name, arity
        self._resources = resources
        self._request = partial(resources.request, name)
        self.delta = self.visible = 0
        self.ranges: list[Range] | None = None
        self.range_version = 0
        self.layout = 0  # how often rows were packed anew
        self._late: list[list[Array]] | None = None
        self._is_crowded = False  # whether keys found no place near enough in a short set
        self._grows = False  # whether rules compute values beyond what was known
        self.looked_up: Relation | None = None  # where rules look whether a row is there, if not here
        self.block = Block(at.R_COLUMNS + at.COLUMN_WORDS * arity)
        self.block[at.R_ARITY] = arity
        self.log = Log(self._request)
        self._indexes: dict[tuple[tuple[int, ...], tuple[Filter, ...]], Index] = {}
        self._delta_indexes: dict[tuple[int, ...], DeltaIndex] = {}
        self._set_packing(packing_for([(0, 0)] * arity))
        self._bit_ranges: list[Range] = []
        self._new_table(MIN_BITS)

    def empty(self) -> Relation:
        """A relation of the same name and arity without rows."""
        return Relation(self.name, self.arity, self._resources)

    def copy(self, places: Array, resources: Resources = _UNLIMITED) -> Relation:
        """A relation of some rows of the log."""
        other = Relation(self.name, self.arity, resources)
        if places.size and self.ranges is not None:
            other._set_packing(self.packing)
            other._set_ranges(self.ranges)
            other._take(self.rows_at(places).words, places.size)
        return other

    def settle(self) -> None:
        """Gives back all that only serves to grow."""
        self._indexes.clear()
        self._delta_indexes.clear()
        self._table = np.zeros(1, np.int64)

    def outlive_run(self) -> None:
        """All rows are visible from here on. Gives back what serves one run only: what was new in it, and indexes that
        depend on other relations."""
        self.next_round()
        self._delta_indexes.clear()
        self._indexes = {(key, filters): index for (key, filters), index in self._indexes.items() if not filters}

    def index(self, key: tuple[int, ...], filters: tuple[Filter, ...] = ()) -> Index:
        """The visible rows that pass the filters, by the columns `key`."""
        index = self._indexes.get((key, filters))
        if index is None:
            index = self._indexes[key, filters] = Index(self, key, filters, self._request)
        index.used = True
        index.sync()
        return index

    def indexes_in_use(self) -> list[Index]:
        """Those that were asked for since this was, and that will probably be asked for again."""
        indexes = [index for index in self._indexes.values() if index.used]
        for index in indexes:
            index.used = False
        return indexes

    def delta_index(self, key: tuple[int, ...]) -> DeltaIndex:
        """The rows of the delta by the columns `key`."""
        index = self._delta_indexes.get(key)
        if index is None:
            index = self._delta_indexes[key] = DeltaIndex(self, key, self._request)
        index.sync()
        return index

    def next_round(self) -> int:
        """Makes this round's rows the delta; returns how many there are."""
        self._see(self.visible, self.size)
        self._choose_set()
        return self.visible - self.delta

    def all_is_new(self) -> None:
        """Makes all visible rows the delta."""
        self._see(0, self.visible)

    def _see(self, delta: int, visible: int) -> None:
        self.delta, self.visible = delta, visible
        self.block[at.R_DELTA], self.block[at.R_VISIBLE] = delta, visible

    # --- Packing ----------------------------------------------------------------------------------

    def prepare(self, ranges: Sequence[Range], spare_bits: int = 1) -> None:
        """Makes ranges and packing fit these values too, if that can be with so many bits to spare in each column.
        Indexes must be asked for again after this."""
        self._grows |= spare_bits > 1
        if self.ranges is not None:
            ranges = [joined(a, b) for a, b in zip(self.ranges, ranges, strict=True)]
        if self.ranges == ranges:
            return
        if not self._fits(ranges):
            columns = self.columns() if self.block[at.R_COUNT] else None
            self._set_packing(packing_for(ranges, spare_bits))
            self.layout += 1
            self._write(self._words(columns) if columns is not None else np.empty(0, np.int64))
            self._fill(self._bits_for(self.size))
        self._set_ranges(ranges)

    def hold(self) -> None:
        """From here to `release`, rows are not packed anew: somebody is in the middle of an index of them. What does
        not fit waits."""
        self._late = []

    def release(self) -> None:
        late, self._late = self._late, None
        for columns in late or ():
            self.insert(columns, columns[0].size)

    @property
    def is_held(self) -> bool:
        return self._late is not None

    def fits(self, ranges: Sequence[Range]) -> bool:
        """Whether values of these ranges can come without packing rows anew."""
        if self.ranges is not None:
            ranges = [joined(a, b) for a, b in zip(self.ranges, ranges, strict=True)]
        return self._fits(ranges)

    def widen(self, row: Sequence[int]) -> bool:
        """Makes ranges fit a row, with as much again beyond it, if the packing does; returns whether that is so."""
        ranges = [
            stretched(known, value) for known, value in zip(self.ranges or [(0, 0)] * self.arity, row, strict=True)
        ]
        if self.packing is not None:
            room = self._bit_ranges if self.block[at.R_SET] == at.SET_BITS else self.packing.ranges()
            if not all(a <= value <= b for value, (a, b) in zip(row, room, strict=True)):
                return False
            ranges = [(max(low, a), min(high, b)) for (low, high), (a, b) in zip(ranges, room, strict=True)]
        self._set_ranges(ranges)
        return True

    def _fits(self, ranges: Sequence[Range]) -> bool:
        """Whether rows need not be packed anew for values of these ranges."""
        if self.packing is None:
            return True
        if self.block[at.R_SET] == at.SET_BITS:
            return all(a <= low and high <= b for (low, high), (a, b) in zip(ranges, self._bit_ranges, strict=True))
        return self.packing.covers(ranges)

    def _set_ranges(self, ranges: Sequence[Range]) -> None:
        """Rules that compute values compare them with these; a packed key has no values below its low."""
        lows = self.packing.lows if self.packing is not None else [low for low, _ in ranges]
        self.ranges = [(low, high) for low, (_, high) in zip(lows, ranges, strict=True)]
        self.range_version += 1
        for position, (low, high) in enumerate(self.ranges):
            where = at.R_COLUMNS + at.COLUMN_WORDS * position
            self.block[where], self.block[where + 3] = low, as_word(high - low)

    def _set_packing(self, packing: Packing | None) -> None:
        self.packing = packing
        self.block[at.R_WIDE] = packing is None
        if packing is not None:
            self.block[at.R_WIDTH] = packing.bits
            for position, (width, shift) in enumerate(zip(packing.widths, packing.shifts, strict=True)):
                where = at.R_COLUMNS + at.COLUMN_WORDS * position
                self.block[where + 1], self.block[where + 2] = shift, (1 << width) - 1

    def _write(self, words: Array) -> None:
        """Makes rows, as the packing wants them, the log. They are known to differ, and the set does not know them."""
        self.log.reserve(words.size)
        self.log.array[: words.size] = words

    def _words(self, columns: Sequence[Array]) -> Array:
        """The rows as they stand in the log."""
        if self.packing is not None:
            return np.ascontiguousarray(self.packing.pack(columns)) if columns else np.zeros(1, np.int64)
        return np.stack(columns, axis=1).ravel()

    # --- The set ----------------------------------------------------------------------------------

    def _bits_for(self, rows: int) -> int:
        """A table is never more than 5/8 full."""
        return max(MIN_BITS, (rows * 8 // 5).bit_length())

    def _new_table(self, bits: int) -> None:
        if self.packing is None:
            kind = at.SET_ROWS
        else:
            short = not self._is_crowded and MIN_SHORT <= bits < self.packing.bits <= bits + at.SHORT_BITS
            kind = at.SET_SHORT if short else at.SET_KEYS
        size = (4 if kind == at.SET_SHORT else 8) << bits
        self._request(size)
        self._table = np.zeros(size >> 3, np.int64)
        self._publish(kind, bits)

    def _publish(self, kind: int, bits: int) -> None:
        self.block[at.R_SET], self.block[at.R_BITS], self.block[at.R_TABLE] = kind, bits, address(self._table)
        self.block[at.R_ROWS] = self.log.address

    def reserve(self, more: int) -> int:
        """Makes room for that many further rows; returns for how many there is room now."""
        wanted = self.size + more
        width = 1 if self.packing is not None else self.arity
        if wanted * width > self.log.capacity:
            self.log.reserve(wanted * width)
            self.block[at.R_ROWS] = self.log.address
        room = self.log.capacity // width - self.size
        if self.block[at.R_SET] == at.SET_BITS:
            return room
        bits = self.block[at.R_BITS]
        if wanted * 8 > 5 << bits or self.block[at.R_CROWDED]:
            self._grow_table(max(bits + 1, self._bits_for(wanted)))
            bits = self.block[at.R_BITS]
        return min(room, (5 << bits) // 8 - self.size)

    def _fill(self, bits: int) -> None:
        """Makes a table of all rows."""
        self._new_table(bits)
        if self.size and kernels().fill_table(self.block.address) >= at.FAR:
            self._is_crowded = True
            self._fill(bits)

    def _grow_table(self, bits: int) -> None:
        """Moves the keys into a larger table, as far as possible in the order they stand in. Keys that crowd
        together in a short one get whole slots, and another hash."""
        self._is_crowded |= self.block[at.R_CROWDED] != 0
        self.block[at.R_CROWDED] = 0
        old, old_bits, old_kind = self._table, self.block[at.R_BITS], self.block[at.R_SET]
        if self.packing is None or (old_kind == at.SET_SHORT and (self._is_crowded or bits >= self.packing.bits)):
            self._fill(bits)
            return
        self._new_table(bits)
        table, kind, width = address(self._table), self.block[at.R_SET], self.packing.bits
        farthest = [0]

        def move(start: int, end: int) -> None:
            if kind == at.SET_KEYS:
                kernels().move_keys(address(old), start, end, table, bits)
            elif old_kind == at.SET_KEYS:
                farthest.append(kernels().shorten_keys(address(old), start, end, table, bits, width))
            else:
                farthest.append(kernels().move_short(address(old), old_bits, start, end, table, bits, width))

        self._resources.in_parts(move, 1 << old_bits)
        if max(farthest) >= at.FAR:
            self._is_crowded = True
            self._fill(bits)

    def _choose_set(self) -> None:
        """Goes over to one bit a key when that is smaller, or not much larger: keys that are made together have
        their bits together, so that it is much faster."""
        if (
            self.packing is None
            or self.ranges is None
            or self.block[at.R_SET] == at.SET_BITS
            or self.size < MIN_BIT_ROWS
        ):
            return
        if self._grows or not self.arity:
            return
        stride, size = self.packing.bits_for(self.ranges)
        if size >> 3 > max(2 * self._table.nbytes, min(MAX_BIT_BYTES, BIT_BYTES_A_ROW * self.size)):
            return
        self._request(size >> 3)
        self._table = np.zeros(size >> 6, np.int64)
        self._bit_ranges = list(self.ranges)
        self.block[at.R_LAST], self.block[at.R_STRIDE] = self.packing.widths[-1], stride
        self._publish(at.SET_BITS, size)
        kernels().fill_table(self.block.address)

    # --- Insertion --------------------------------------------------------------------------------

    def insert(self, columns: Sequence[Array], size: int) -> None:
        """Adds rows that are not there yet."""
        if size == 0:
            return
        ranges = [range_of(column) for column in columns]
        if self._late is not None and not self.fits(ranges):
            columns = self._fitting(columns)
            size = columns[0].size
            if size == 0:
                return
            ranges = [range_of(column) for column in columns]
        self.prepare(ranges)
        words = self._words(columns)
        if self.packing is None:
            self.reserve(size)
            kernels().add_rows(self.block.address, address(words), size)
            return
        buffer = np.empty(at.BUFFER_WORDS, np.int64)
        step = max(at.BUFFER_WORDS, self.size, 1 << 16)  # tables grow with what is new, not with what is tried
        for start in range(0, words.size, step):
            part = words[start : start + step]
            done = 0
            while done < part.size:
                self.reserve(part.size - done)
                done += kernels().add_keys(
                    self.block.address, address(part) + 8 * done, part.size - done, address(buffer)
                )

    def take(self, columns: Sequence[Array], size: int) -> None:
        """Makes rows, which are known to differ, those of an empty relation."""
        if size:
            self.prepare([range_of(column) for column in columns])
            self._take(self._words(columns), size)

    def _take(self, words: Array, size: int) -> None:
        self._write(words)
        self.block[at.R_COUNT] = size
        self._choose_set()  # where one bit a key will do, nothing else is filled
        if self.block[at.R_SET] != at.SET_BITS:
            self._fill(self._bits_for(size))
        self.next_round()

    def _fitting(self, columns: Sequence[Array]) -> list[Array]:
        """The rows that fit into the packing; the others are put off."""
        assert self.packing is not None and self._late is not None
        room = self._bit_ranges if self.block[at.R_SET] == at.SET_BITS else self.packing.ranges()
        inside = np.ones(columns[0].size, np.bool_)
        for column, (low, high) in zip(columns, room, strict=True):
            inside &= (column >= low) & (column <= high)
        self._late.append([column[~inside] for column in columns])
        return [column[inside] for column in columns]

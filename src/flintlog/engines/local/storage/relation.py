"""A relation: an append-only log of distinct rows, of which only the first `visible` are seen until the round ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flintlog.engines.local.kernels.layout import (
    BUFFER_WORDS,
    COLUMN_WORDS,
    R_ARITY,
    R_BITS,
    R_COLUMNS,
    R_COUNT,
    R_DELTA,
    R_ROWS,
    R_SET,
    R_TABLE,
    R_VISIBLE,
    R_WIDE,
    SET_BITS,
    SET_KEYS,
    SET_ROWS,
)
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.block import Block, Log
from flintlog.engines.local.storage.index import Index
from flintlog.engines.local.storage.packing import Array, Packing, Range, joined, packing_for, range_of
from flintlog.engines.memory import MemoryGuard

MIN_BITS = 6
MAX_BIT_SET = 40


@dataclass(frozen=True)
class Resources:
    """What relations of a run share: the memory they may take."""

    guard: MemoryGuard | None = None


_UNLIMITED = Resources()


class Relation:
    """Rows as packed keys while 62 bits hold one; as rows of words beyond that. The delta is [delta, visible)."""

    def __init__(self, name: str, arity: int, resources: Resources = _UNLIMITED) -> None:
        self.name, self.arity = name, arity
        self._resources = resources
        self.delta = self.visible = 0
        self.ranges: list[Range] | None = None
        self.layout = 0  # how often rows were packed anew
        self.block = Block(R_COLUMNS + COLUMN_WORDS * arity)
        self.block[R_ARITY] = arity
        self.log = Log(self._request)
        self._indexes: dict[tuple[int, ...], Index] = {}
        self._set_packing(packing_for([(0, 0)] * arity))
        self._new_table(MIN_BITS)

    def empty(self) -> Relation:
        """A relation of the same name and arity without rows."""
        return Relation(self.name, self.arity, self._resources)

    def _request(self, size: int) -> None:
        if self._resources.guard is not None:
            self._resources.guard.request(size, self.name)

    @property
    def size(self) -> int:
        """How many rows there are, those of the current round included."""
        return self.block[R_COUNT]

    @property
    def is_packed(self) -> bool:
        return self.packing is not None

    def column(self, position: int, start: int, end: int) -> Array:
        """A copy of a column's values in some rows."""
        if self.packing is not None:
            return self.packing.unpack(self.log.array[start:end], position)
        return self.log.array[start * self.arity : end * self.arity].reshape(-1, self.arity)[:, position].copy()

    def columns(self) -> list[Array]:
        return [self.column(position, 0, self.size) for position in range(self.arity)]

    def index(self, key: tuple[int, ...]) -> Index:
        """The visible rows by the columns `key`."""
        index = self._indexes.get(key)
        if index is None:
            index = self._indexes[key] = Index(self, key, self._request)
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
        self.block[R_DELTA], self.block[R_VISIBLE] = delta, visible

    # --- Packing ----------------------------------------------------------------------------------

    def prepare(self, ranges: Sequence[Range], spare_bits: int = 1) -> None:
        """Makes the packing fit values of these ranges too. Indexes must be asked for again after this."""
        if self.ranges is not None:
            ranges = [joined(a, b) for a, b in zip(self.ranges, ranges, strict=True)]
        self.ranges = list(ranges)
        if self.packing is not None and not self.packing.covers(ranges):
            columns = self.columns() if self.size else None
            self._set_packing(packing_for(ranges, spare_bits))
            self.layout += 1
            self._repack(columns)

    def _set_packing(self, packing: Packing | None) -> None:
        self.packing = packing
        self.block[R_WIDE] = packing is None
        if packing is not None:
            for position, (low, width, shift) in enumerate(
                zip(packing.lows, packing.widths, packing.shifts, strict=True)
            ):
                at = R_COLUMNS + COLUMN_WORDS * position
                self.block[at], self.block[at + 1], self.block[at + 2] = low, shift, (1 << width) - 1

    def _repack(self, columns: list[Array] | None) -> None:
        """Writes the rows as the packing wants them. They are known to differ."""
        words = self._words(columns) if columns is not None else np.empty(0, np.int64)
        self.log.reserve(words.size)
        self.log.array[: words.size] = words
        self._new_table(self._bits_for(self.size))
        if columns is not None:
            kernels().fill_table(self.block.address)

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
        kind = SET_KEYS if self.packing is not None else SET_ROWS
        self._request(8 << bits)
        self._table = np.zeros(1 << bits, np.int64)
        self._publish(kind, bits)

    def _publish(self, kind: int, bits: int) -> None:
        self.block[R_SET], self.block[R_BITS], self.block[R_TABLE] = kind, bits, address(self._table)
        self.block[R_ROWS] = self.log.address

    def reserve(self, more: int) -> int:
        """Makes room for that many further rows; returns for how many there is room now."""
        wanted = self.size + more
        width = 1 if self.packing is not None else self.arity
        if wanted * width > self.log.capacity:
            self.log.reserve(wanted * width)
            self.block[R_ROWS] = self.log.address
        room = self.log.capacity // width - self.size
        if self.block[R_SET] == SET_BITS:
            return room
        bits = self.block[R_BITS]
        if wanted * 8 > 5 << bits:
            self._grow_table(self._bits_for(wanted))
            bits = self.block[R_BITS]
        return min(room, (5 << bits) // 8 - self.size)

    def _grow_table(self, bits: int) -> None:
        old, old_bits = self._table, self.block[R_BITS]
        self._new_table(bits)
        if self.packing is not None:
            kernels().move_keys(address(old), old_bits, address(self._table), bits)
        else:
            kernels().fill_table(self.block.address)

    def _choose_set(self) -> None:
        """Goes over to one bit a key when that is smaller; it is faster too."""
        if self.packing is None or self.block[R_SET] != SET_KEYS:
            return
        bits = self.packing.bits
        if 10 <= bits <= MAX_BIT_SET and (1 << bits) >> 3 <= self._table.nbytes:
            self._table = np.zeros((1 << bits) >> 6, np.int64)
            self._publish(SET_BITS, bits)
            kernels().fill_table(self.block.address)

    # --- Insertion --------------------------------------------------------------------------------

    def insert(self, columns: Sequence[Array], size: int) -> None:
        """Adds rows that are not there yet."""
        if size == 0:
            return
        self.prepare([range_of(column) for column in columns])
        words = self._words(columns)
        if self.packing is None:
            self.reserve(size)
            kernels().add_rows(self.block.address, address(words), size)
            return
        buffer = np.empty(BUFFER_WORDS, np.int64)
        step = max(BUFFER_WORDS, self.size, 1 << 16)  # tables grow with what is new, not with what is tried
        for start in range(0, words.size, step):
            part = words[start : start + step]
            self.reserve(part.size)
            kernels().add_keys(self.block.address, address(part), part.size, address(buffer), 0)

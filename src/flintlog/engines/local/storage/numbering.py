"""Numbers for distinct values, in order of appearance: dictionaries of columns, and of whole rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.packing import Array, Packing, packing_for, range_of

MIN_BITS = 6
PAIR_BITS = 31


class Numbering:
    """Any words to 0, 1, 2, …"""

    def __init__(self) -> None:
        self.count = 0
        self._bits = MIN_BITS
        self._table = np.zeros(2 << MIN_BITS, np.int64)

    def add(self, values: Array) -> Array:
        """The number of each value; unknown ones get the next."""
        wanted = self.count + values.size
        if wanted * 2 > 1 << self._bits:
            old, old_bits = self._table, self._bits
            self._bits = max(MIN_BITS, (wanted * 2).bit_length())
            self._table = np.zeros(2 << self._bits, np.int64)
            kernels().move_pairs(address(old), old_bits, address(self._table), self._bits)
        values, found = np.ascontiguousarray(values), np.empty(values.size, np.int64)
        self.count = kernels().number_words(
            address(values), values.size, address(self._table), self._bits, address(found), self.count
        )
        return found

    def find(self, values: Array) -> Array:
        """The number of each value, -1 for unknown ones."""
        values, found = np.ascontiguousarray(values), np.empty(values.size, np.int64)
        kernels().find_words(address(values), values.size, address(self._table), self._bits, address(found))
        return found


class RowNumbering:
    """Rows of any width to numbers: column by column, a prefix and the next value make a longer prefix."""

    def __init__(self, arity: int) -> None:
        self.columns = [Numbering() for _ in range(arity)]
        self.prefixes = [Numbering() for _ in range(arity - 1)]

    @property
    def count(self) -> int:
        return self.prefixes[-1].count if self.prefixes else self.columns[0].count

    def add(self, columns: Sequence[Array]) -> Array:
        number = self.columns[0].add(columns[0])
        for column, dictionary, prefix in zip(columns[1:], self.columns[1:], self.prefixes, strict=True):
            number = prefix.add((number << PAIR_BITS) | dictionary.add(column))
        return number

    def find(self, columns: Sequence[Array]) -> Array:
        number = self.columns[0].find(columns[0])
        for column, dictionary, prefix in zip(columns[1:], self.columns[1:], self.prefixes, strict=True):
            value = dictionary.find(column)
            found = prefix.find((number << PAIR_BITS) | value)
            number = np.where((number >= 0) & (value >= 0), found, -1)
        return number


# Values are looked up in an array while that has at most so many entries a row.
DENSE_FACTOR = 4
DENSE_DOMAIN = 1 << 16


@dataclass(frozen=True)
class Groups:
    """Rows that agree in some columns: the number of each row's group, and the values of each group."""

    numbers: Array
    count: int
    keys: list[Array]
    find: Callable[[Sequence[Array], int], Array]  # the group of other values, -1 if there is none


def groups_of(columns: Sequence[Array], size: int) -> Groups:
    if not columns:
        known = min(1, size)
        return Groups(np.zeros(size, np.int64), known, [], lambda keys, size: np.full(size, known - 1))
    packing = packing_for([range_of(column) for column in columns], spare_bits=0)
    if packing is not None and 1 << packing.bits <= max(DENSE_FACTOR * size, DENSE_DOMAIN):
        return _dense_groups(columns, packing)
    numbering = RowNumbering(len(columns))
    numbers = numbering.add(columns)
    some = np.empty(numbering.count, np.int64)  # a row of each group
    some[numbers] = np.arange(size)
    keys = [column[some] for column in columns]
    return Groups(numbers, numbering.count, keys, lambda keys, size: numbering.find(keys))


def _dense_groups(columns: Sequence[Array], packing: Packing) -> Groups:
    packed = packing.pack(columns)
    present = np.zeros(1 << packing.bits, np.bool_)
    present[packed] = True
    keys = np.flatnonzero(present)
    number = np.full(present.size + 1, -1, np.int64)  # the last for keys out of range
    number[keys] = np.arange(keys.size)
    values = [packing.unpack(keys, position) for position in range(len(columns))]
    return Groups(number[packed], keys.size, values, lambda others, size: number[packing.pack_or_miss(others)])

"""Numbers for distinct values, in order of appearance: dictionaries of columns, and of whole rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels.groups import find_numbers, number_keys, renumber
from flintlog.engines.local.storage.packing import Array

MIN_BITS = 6
PAIR_BITS = 31


class Numbering:
    """Any int64 values to 0, 1, 2, …"""

    def __init__(self) -> None:
        self.count = 0
        self._resize(MIN_BITS)

    def _resize(self, bits: int) -> None:
        self.bits = bits
        self.table = np.zeros(1 << bits, np.int64)
        self.numbers = np.full(1 << bits, -1, np.int64)

    def add(self, values: Array) -> Array:
        """The number of each value; unknown ones get the next."""
        wanted = self.count + values.size
        if wanted * 2 > self.table.size:
            table, numbers = self.table, self.numbers
            self._resize(max(MIN_BITS, (wanted * 2).bit_length()))
            renumber(table, numbers, self.table, self.numbers, self.bits)
        found = np.empty(values.size, np.int64)
        self.count = number_keys(values, self.table, self.numbers, self.bits, found, self.count)
        return found

    def find(self, values: Array) -> Array:
        """The number of each value, -1 for unknown ones."""
        found = np.empty(values.size, np.int64)
        find_numbers(values, self.table, self.numbers, self.bits, found)
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

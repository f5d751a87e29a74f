"""Numbers for distinct values, in order of appearance: dictionaries of columns, and of whole rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.packing import Array

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
            kernels().move_words(address(old), old_bits, address(self._table), self._bits)
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

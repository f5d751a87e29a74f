"""Blocks of words that Python and the kernels share, and arrays that grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from flintlog.engines.local.kernels.library import address
from flintlog.engines.local.storage.packing import Array

# Up to here an array doubles; beyond, it grows by an eighth: the system moves large ones without copying.
DOUBLING = 1 << 20


class Block:
    """Words at an address that stays the same."""

    def __init__(self, size: int, words: Iterable[int] = ()) -> None:
        self.words = np.zeros(max(1, size), np.int64)
        self.address = address(self.words)
        for place, word in enumerate(words):
            self.words[place] = word

    def __getitem__(self, place: int) -> int:
        return int(self.words[place])

    def __setitem__(self, place: int, word: int) -> None:
        self.words[place] = word


def block_of(words: Iterable[int]) -> Block:
    values = list(words)
    return Block(len(values), values)


class Log:
    """An array of words with room at its end. It moves when it grows: its address, and views of it, do not last."""

    def __init__(self, request: Callable[[int], None]) -> None:
        self.array: Array = np.empty(16, np.int64)
        self._request = request

    @property
    def capacity(self) -> int:
        return self.array.size

    @property
    def address(self) -> int:
        return address(self.array)

    def reserve(self, wanted: int) -> None:
        have = self.array.size
        if wanted > have:
            room = max(wanted, have * 2 if have < DOUBLING else have * 9 // 8)
            self._request(8 * (room - have))
            self.array.resize(room, refcheck=False)

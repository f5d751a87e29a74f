"""Blocks of words that Python and the kernels share, and arrays that grow."""

from __future__ import annotations

import mmap
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from flintlog.engines.local.kernels.library import address
from flintlog.engines.local.storage.packing import Array

if TYPE_CHECKING:
    Words = array[int]
else:
    Words = array  # a word is read and written in a fraction of the time that numpy takes

# Up to here an array doubles; beyond, it grows by a quarter.
DOUBLING = 1 << 20
HUGE_PAGE = 1 << 21


class Block(Words):
    """Words at an address that stays the same: there are never more or fewer of them."""

    address: int

    def __new__(cls, size: int, words: Sequence[int] = ()) -> Self:
        self = cast("Self", super().__new__(cls, "q", words or bytes(8 * max(1, size))))
        self.address, _ = self.buffer_info()
        return self


def block_of(words: Iterable[int]) -> Block:
    return Block(0, list(words))


class Log:
    """An array of words with room at its end. It moves when it grows: its address, and views of it, do not last."""

    def __init__(self, request: Callable[[int], None]) -> None:
        self.array: Array = np.empty(16, np.int64)
        self._map: mmap.mmap | None = None
        self._request = request

    @property
    def capacity(self) -> int:
        return self.array.size

    @property
    def address(self) -> int:
        return address(self.array)

    def reserve(self, wanted: int) -> None:
        have = self.array.size
        if wanted <= have:
            return
        room = max(wanted, have * 2 if have < DOUBLING else have * 5 // 4)
        self._request(8 * (wanted - have))
        if room < DOUBLING or sys.platform != "linux":
            self.array.resize(room, refcheck=False)
        else:
            self._grow_map(room)

    def _grow_map(self, room: int) -> None:
        """Memory of its own that the system moves without copying, in large pages, and gives when it is first
        touched."""
        size = -(-8 * room // HUGE_PAGE) * HUGE_PAGE
        if self._map is None:
            self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            moved = np.frombuffer(self._map, np.int64)
            moved[: self.array.size] = self.array
            self.array = moved
        else:
            self.array = np.empty(0, np.int64)  # the map cannot move while an array looks at it
            self._map.resize(size)
            self.array = np.frombuffer(self._map, np.int64)
        with suppress(OSError):  # a kernel without large pages
            self._map.madvise(mmap.MADV_HUGEPAGE)

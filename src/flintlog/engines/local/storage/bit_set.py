"""A dense set of keys, one bit each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.kernels.bit_set import set_bits, set_join_bits, test_bits
from flintlog.engines.local.storage.key_set import BATCH, PARALLEL_CANDIDATES, KeySet
from flintlog.engines.local.storage.packing import Array


class BitSet:
    """Keys of at most `bits` bits."""

    def __init__(self, bits: int, pool: ThreadPoolExecutor | None = None) -> None:
        self.words = np.zeros(max(1, (1 << bits) >> 6), np.uint64)
        self.bits, self.pool = bits, pool
        self.count = 0

    def __len__(self) -> int:
        return self.count

    @property
    def nbytes(self) -> int:
        return self.words.nbytes

    def insert(self, keys: Array) -> list[Array]:
        """Inserts keys; returns those that are new, each once."""
        new = np.empty(keys.size, np.int64)
        count = set_bits(self.words, keys, new)
        self.count += count
        return [new[:count]]

    def insert_join(self, left: Array, low: Array, high: Array, right: Array, total: int) -> list[Array]:
        """Inserts `left[i] | right[j]` for the groups of a join; returns the new keys."""
        halves = self._halves(left, right) if self.pool is not None and total >= PARALLEL_CANDIDATES else None
        if halves is None or self.pool is None:
            news = self._join(left, low, high, right, total)
        else:
            parts = self.pool.map(lambda rows: self._join(left[rows], low[rows], high[rows], right, total), halves)
            news = [new for part in parts for new in part]
        self.count += sum(new.size for new in news)
        return news

    def _join(self, left: Array, low: Array, high: Array, right: Array, total: int) -> list[Array]:
        at = np.zeros(2, np.int64)
        news: list[Array] = []
        buffer = np.empty(min(BATCH, total), np.int64)
        while at[0] < left.size:
            count = set_join_bits(self.words, left, low, high, right, buffer, at)
            news.append(buffer[:count].copy())
        return news

    def _halves(self, left: Array, right: Array) -> list[NDArray[np.bool_]] | None:
        """The left rows in two halves whose keys are in different words, so that two threads never write the same one:
        apart by the lowest bit that the right side leaves alone. None if there is no such bit."""
        taken = int(np.bitwise_or.reduce(right)) if right.size else 0
        for bit in range(6, self.bits):
            if not taken >> bit & 1:
                upper = (left >> bit & 1).astype(np.bool_)
                return [upper, ~upper]
        return None

    def contains(self, keys: Array) -> NDArray[np.bool_]:
        found = np.empty(keys.size, np.bool_)
        test_bits(self.words, keys, found)
        return found


def pays_as_bits(keys: KeySet, bits: int) -> bool:
    """Whether one bit for every possible key takes less memory than the table does."""
    return bits < 40 and (1 << bits) >> 3 <= keys.nbytes

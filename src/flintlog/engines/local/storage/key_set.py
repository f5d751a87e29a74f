"""A growing set of keys, in one table a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.kernels.key_set import EMPTY, contains_keys, insert_join, insert_keys, rehash
from flintlog.engines.local.storage.packing import Array

MIN_BITS = 10
# A round with fewer candidates than this is over before a second thread has begun.
PARALLEL_CANDIDATES = 200_000
# How many new keys a join writes before the tables are looked after: the buffer stays in the cache.
BATCH = 1 << 17


def _granted(size: int) -> None:
    pass


class KeySet:
    """Keys in `parts` open-addressing tables, of which a key's hash chooses one. Never more than 5/8 full."""

    def __init__(self, parts: int, pool: ThreadPoolExecutor | None, request: Callable[[int], None] = _granted) -> None:
        self._request = request
        self.parts = parts if pool is not None else 1
        self.pool = pool
        self.tables = [_empty(MIN_BITS) for _ in range(self.parts)]
        self.counts = [0] * self.parts

    def __len__(self) -> int:
        return sum(self.counts)

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    def reserve(self, part: int, more: int) -> None:
        """Makes room for that many further keys in a part."""
        table = self.tables[part]
        wanted = self.counts[part] + more
        if wanted * 8 <= table.size * 5:
            return
        bits = max(MIN_BITS, (wanted * 8 // 5).bit_length())
        self._request(8 << bits)
        larger = _empty(bits)
        rehash(table, larger, bits)
        self.tables[part] = larger

    def insert(self, keys: Array) -> list[Array]:
        """Inserts keys; returns those that are new, each once."""
        if keys.size >= PARALLEL_CANDIDATES and self.pool is not None:
            return list(self.pool.map(lambda part: self._insert_part(keys, part), range(self.parts)))
        return [self._insert_part(keys, part) for part in range(self.parts)]

    def _insert_part(self, keys: Array, part: int) -> Array:
        news: list[Array] = []
        buffer = np.empty(min(BATCH, keys.size), np.int64)
        for start in range(0, keys.size, BATCH):
            chunk = keys[start : start + BATCH]
            self.reserve(part, chunk.size)
            table = self.tables[part]
            count = insert_keys(table, _bits(table), chunk, part, self.parts, buffer)
            self.counts[part] += count
            news.append(buffer[:count].copy())
        return np.concatenate(news) if news else np.empty(0, np.int64)

    def insert_join(self, left: Array, low: Array, high: Array, right: Array, total: int) -> list[Array]:
        """Inserts `left[i] | right[j]` for the groups of a join; returns the new keys."""
        if total >= PARALLEL_CANDIDATES and self.pool is not None:
            return list(
                self.pool.map(lambda part: self._join_part(left, low, high, right, total, part), range(self.parts))
            )
        return [self._join_part(left, low, high, right, total, part) for part in range(self.parts)]

    def _join_part(self, left: Array, low: Array, high: Array, right: Array, total: int, part: int) -> Array:
        at = np.zeros(2, np.int64)
        news: list[Array] = []
        room = min(BATCH, total)
        buffer = np.empty(room, np.int64)
        while at[0] < left.size:
            self.reserve(part, room)
            table = self.tables[part]
            count = insert_join(table, _bits(table), left, low, high, right, part, self.parts, buffer, at)
            self.counts[part] += count
            news.append(buffer[:count].copy())
        return np.concatenate(news) if news else np.empty(0, np.int64)

    def contains(self, keys: Array) -> NDArray[np.bool_]:
        """For each key whether the set has it; a negative one never."""
        found = np.zeros(keys.size, np.bool_)
        if self.parts == 1:
            contains_keys(self.tables[0], _bits(self.tables[0]), keys, found)
        else:
            for table in self.tables:
                # A key is only ever in the table of its part, so that the others do not find it.
                here = np.zeros(keys.size, np.bool_)
                contains_keys(table, _bits(table), keys, here)
                found |= here
        return found & (keys >= 0)


def _empty(bits: int) -> Array:
    return np.full(1 << bits, EMPTY, np.int64)


def _bits(table: Array) -> int:
    return table.size.bit_length() - 1

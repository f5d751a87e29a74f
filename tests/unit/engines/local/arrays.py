"""Words and keys that the kernels' tests are fed with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from flintlog.engines.local.storage.packing import Array

WORD = 1 << 64
MIN, MAX = -(1 << 63), (1 << 63) - 1

# Small numbers meet each other, and the ends of the range overflow if anything does.
any_int64 = st.one_of(st.integers(-3, 3), st.integers(MIN, MAX), st.sampled_from([MIN, MIN + 1, MAX - 1, MAX, 1 << 62]))


def for_all(
    *strategies: SearchStrategy[Any], examples: int = 100
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """hypothesis.given without a deadline: the first call of a kernel loads its machine code."""
    return lambda test: settings(max_examples=examples, deadline=None)(given(*strategies)(test))


def words(values: Iterable[int]) -> Array:
    return np.array(list(values), np.int64)


def slot(key: int, bits: int) -> int:
    """Where the hash tables begin to look for a key: the twin of their hash function."""
    hashed = key * 0x9E3779B97F4A7C15 % WORD
    hashed ^= hashed >> 29
    return (hashed * 0xBF58476D1CE4E5B9 % WORD) >> (64 - bits)


def colliding(bits: int, count: int) -> list[int]:
    """Keys that all begin in the last slot of a table, so that they go on at its beginning."""
    last = (1 << bits) - 1
    keys = (key for key in range(1 << 20) if slot(key, bits) == last)
    return [next(keys) for _ in range(count)]


def unshuffled(hashed: Array, width: int) -> Array:
    """The keys of so many bits that a short set's hash function takes to these: the inverse of its twin."""
    mask, half = (1 << width) - 1, np.uint64((width + 1) >> 1)
    first, second = (pow(factor, -1, 1 << width) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9))
    result = hashed.astype(np.uint64)
    for inverse in (second, first):
        result = ((result ^ (result >> half)) * np.uint64(inverse)) & np.uint64(mask)
    return result.astype(np.int64)

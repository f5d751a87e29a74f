"""Arrays for kernels, and the joins that the duplicate check is fed with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

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


@dataclass(frozen=True)
class Join:
    """`left[i] | right[j]` for low[i] <= j < high[i]."""

    left: Array
    low: Array
    high: Array
    right: Array

    @property
    def total(self) -> int:
        return int((self.high - self.low).sum())

    def candidates(self) -> Iterator[int]:
        for base, low, high in zip(self.left.tolist(), self.low.tolist(), self.high.tolist(), strict=True):
            yield from (base | part for part in self.right[low:high].tolist())

    def distinct(self, known: Iterable[int] = ()) -> list[int]:
        """The candidates that are not known, each once, in order of appearance."""
        known = set(known)
        return [key for key in dict.fromkeys(self.candidates()) if key not in known]


@st.composite
def joins(draw: DrawFn, low_bits: int = 3, high_bits: int = 3) -> Join:
    """Left parts have the upper bits of a key, right parts the lower ones; groups may be empty and may overlap."""
    right = draw(st.lists(st.integers(0, (1 << low_bits) - 1), max_size=12))
    ends = st.tuples(st.integers(0, len(right)), st.integers(0, len(right))).map(sorted)
    groups = draw(st.lists(st.tuples(st.integers(0, (1 << high_bits) - 1), ends), max_size=8))
    return Join(
        words(upper << low_bits for upper, _ in groups),
        words(low for _, (low, _) in groups),
        words(high for _, (_, high) in groups),
        words(right),
    )

"""The kernels of bit sets against Python's sets."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.unit.engines.local.arrays import Join, for_all, joins, words

from flintlog.engines.local.kernels.bit_set import set_bits, set_join_bits
from flintlog.engines.local.kernels.bit_set import test_bits as has_bits

BITS = 9
_keys = st.lists(st.one_of(st.integers(0, (1 << BITS) - 1), st.sampled_from([0, 63, 64, 127, 511])), max_size=40)


def empty() -> NDArray[np.uint64]:
    return np.zeros((1 << BITS) // 64, np.uint64)


def inserted(into: NDArray[np.uint64], keys: list[int]) -> list[int]:
    new = np.empty(len(keys), np.int64)
    return [int(key) for key in new[: set_bits(into, words(keys), new)]]


def members(of: NDArray[np.uint64]) -> set[int]:
    return {64 * i + bit for i, word in enumerate(of.tolist()) for bit in range(64) if word >> bit & 1}


@for_all(_keys, _keys)
def test_new_keys_come_once_in_order(first: list[int], second: list[int]):
    into = empty()
    assert inserted(into, first) == list(dict.fromkeys(first))
    assert inserted(into, second) == [key for key in dict.fromkeys(second) if key not in first]
    assert members(into) == {*first, *second}


@for_all(_keys, st.lists(st.integers(-(1 << 63), (1 << BITS) - 1), max_size=20))
def test_negative_keys_are_never_there(keys: list[int], asked: list[int]):
    into = empty()
    inserted(into, keys)
    found = np.empty(len(asked), np.bool_)
    has_bits(into, words(asked), found)
    assert found.tolist() == [key in keys for key in asked]


@for_all(joins(4, 5), _keys, st.integers(1, 5), examples=300)
def test_a_join_goes_on_where_it_stopped(join: Join, known: list[int], room: int):
    into, at, new = empty(), np.zeros(2, np.int64), np.empty(room, np.int64)
    inserted(into, known)
    result: list[int] = []
    while at[0] < join.left.size:
        before = at.copy()
        count = set_join_bits(into, join.left, join.low, join.high, join.right, new, at)
        assert tuple(at) > tuple(before)
        result += new[:count].tolist()
    assert result == join.distinct(known)
    assert members(into) == {*known, *join.candidates()}

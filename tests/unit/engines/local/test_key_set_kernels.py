"""The kernels of hash sets against Python's sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import MAX, Join, colliding, for_all, joins, words

from flintlog.engines.local.kernels.key_set import EMPTY, contains_keys, insert_join, insert_keys, rehash
from flintlog.engines.local.storage.packing import Array

BITS = 7
# The second half makes one long chain that wraps round the end of the table.
KEYS = [0, 1, 2, 63, 64, 1 << 61, (1 << 62) - 1, *colliding(BITS, 12)]
_keys = st.lists(st.sampled_from(KEYS), max_size=60)


def table(bits: int = BITS) -> Array:
    return np.full(1 << bits, EMPTY, np.int64)


def inserted(into: Array, keys: list[int], part: int = 0, parts: int = 1) -> list[int]:
    bits, new = into.size.bit_length() - 1, np.empty(len(keys), np.int64)
    count = insert_keys(into, bits, words(keys), part, parts, new)
    return [int(key) for key in new[:count]]


def members(of: Array) -> list[int]:
    return sorted(key for key in of.tolist() if key != EMPTY)


@for_all(_keys, _keys)
def test_new_keys_come_once_in_order(first: list[int], second: list[int]):
    into = table()
    assert inserted(into, first) == list(dict.fromkeys(first))
    assert inserted(into, second) == [key for key in dict.fromkeys(second) if key not in first]
    assert members(into) == sorted({*first, *second})


@for_all(_keys, st.sampled_from([2, 4]))
def test_each_key_belongs_to_one_part(keys: list[int], parts: int):
    tables = [table() for _ in range(parts)]
    new = [inserted(into, keys, part, parts) for part, into in enumerate(tables)]
    assert sorted(key for part in new for key in part) == sorted(set(keys))
    again = [inserted(into, keys, part, parts) for part, into in enumerate(tables)]
    assert again == [[] for _ in tables]


@for_all(_keys, st.lists(st.sampled_from([*KEYS, 3, 5, -2, MAX, -(1 << 63)]), max_size=30))
def test_contains_is_membership(keys: list[int], asked: list[int]):
    into = table()
    inserted(into, keys)
    found = np.empty(len(asked), np.bool_)
    contains_keys(into, BITS, words(asked), found)
    assert found.tolist() == [key in keys for key in asked]


@for_all(_keys, st.integers(BITS, 11))
def test_rehashing_keeps_all_keys(keys: list[int], bits: int):
    into, larger = table(), table(bits)
    inserted(into, keys)
    rehash(into, larger, bits)
    assert members(larger) == members(into)
    assert inserted(larger, keys) == []


def join_into(into: Array, join: Join, room: int, part: int, parts: int) -> list[int]:
    """All new keys, with room for only so many at a time."""
    at, new, result = np.zeros(2, np.int64), np.empty(room, np.int64), []
    bits = into.size.bit_length() - 1
    while at[0] < join.left.size:
        before = at.copy()
        count = insert_join(into, bits, join.left, join.low, join.high, join.right, part, parts, new, at)
        assert tuple(at) > tuple(before)
        result += new[:count].tolist()
    return result


@for_all(joins(), _keys, st.integers(1, 5), examples=300)
def test_a_join_goes_on_where_it_stopped(join: Join, known: list[int], room: int):
    into = table(9)
    inserted(into, known)
    assert join_into(into, join, room, 0, 1) == join.distinct(known)
    assert members(into) == sorted({*known, *join.candidates()})


@for_all(joins(), st.integers(1, 3))
def test_two_parts_share_a_join(join: Join, room: int):
    parts = [join_into(table(9), join, room, part, 2) for part in range(2)]
    expected = join.distinct()
    assert sorted(parts[0] + parts[1]) == sorted(expected)
    for part in parts:
        assert part == [key for key in expected if key in part]


@pytest.mark.parametrize("room", [1, 2, 3, 4, 5])
def test_a_buffer_that_fills_with_the_last_key_of_a_group(room: int):
    join = Join(words([0, 8, 16]), words([0, 0, 1]), words([4, 0, 3]), words([0, 1, 2, 3]))
    assert join_into(table(9), join, room, 0, 1) == [0, 1, 2, 3, 17, 18]

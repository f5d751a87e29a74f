"""The kernels that gather rows by key, and that keep best values, against Python's dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import any_int64, colliding, for_all, words

from flintlog.engines.local.kernels.best_values import improve
from flintlog.engines.local.kernels.groups import (
    count_dense,
    fill_dense,
    fill_pairs,
    find_numbers,
    number_keys,
    probe_dense,
    renumber,
    widest,
)
from flintlog.engines.local.storage.packing import Array

DOMAIN = 8
BITS = 7
_dense = st.lists(st.integers(0, DOMAIN - 1), max_size=30)
_sparse = st.lists(st.one_of(any_int64, st.sampled_from(colliding(BITS, 10))), max_size=50)


def arranged(keys: list[int]) -> tuple[Array, Array]:
    offsets, order = np.zeros(DOMAIN + 1, np.int64), np.empty(len(keys), np.int64)
    count_dense(words(keys), offsets)
    fill_dense(words(keys), offsets, order)
    return offsets, order


@for_all(_dense)
def test_groups_are_contiguous_and_ascending(keys: list[int]):
    offsets, order = arranged(keys)
    for key in range(DOMAIN):
        assert order[offsets[key] : offsets[key + 1]].tolist() == [i for i, k in enumerate(keys) if k == key]
    assert offsets[-1] == len(keys)


@for_all(_dense, st.lists(st.one_of(st.integers(-2, DOMAIN + 1), any_int64), max_size=20))
def test_a_probe_finds_all_rows_of_its_key(keys: list[int], asked: list[int]):
    offsets, order = arranged(keys)
    low, high = np.empty(len(asked), np.int64), np.empty(len(asked), np.int64)
    total = probe_dense(words(asked), offsets, low, high)
    found = [order[a:b].tolist() for a, b in zip(low, high, strict=True)]
    assert found == [[i for i, k in enumerate(keys) if k == key] for key in asked]
    assert total == sum(map(len, found))


@for_all(_sparse, _sparse)
def test_numbers_are_given_in_order_of_appearance(keys: list[int], asked: list[int]):
    table, numbers, group = np.zeros(1 << BITS, np.int64), np.full(1 << BITS, -1), np.empty(len(keys), np.int64)
    expected = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    half = len(keys) // 2
    count = number_keys(words(keys[:half]), table, numbers, BITS, group[:half], 0)
    assert number_keys(words(keys[half:]), table, numbers, BITS, group[half:], count) == len(expected)
    assert group.tolist() == [expected[key] for key in keys]
    found = np.empty(len(asked), np.int64)
    find_numbers(words(asked), table, numbers, BITS, found)
    assert found.tolist() == [expected.get(key, -1) for key in asked]
    larger, larger_numbers = np.zeros(1 << 9, np.int64), np.full(1 << 9, -1)
    renumber(table, numbers, larger, larger_numbers, 9)
    find_numbers(words(asked), larger, larger_numbers, 9, found)
    assert found.tolist() == [expected.get(key, -1) for key in asked]


_groups = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=12)


@for_all(_groups, st.integers(0, 6))
def test_pairs_come_in_whole_groups(groups: list[tuple[int, int]], more: int):
    low, high = words(a for a, _ in groups), words(a + size for a, size in groups)
    largest = widest(low, high)
    assert largest == max((size for _, size in groups), default=0)
    room = largest + more
    left, right = np.empty(room, np.int64), np.empty(room, np.int64)
    at, pairs = 0, list[tuple[int, int]]()
    while at < len(groups):
        after, count = fill_pairs(low, high, at, left, right)
        assert after > at
        assert count == sum(size for _, size in groups[at:after])
        at = after
        pairs += zip(left[:count].tolist(), right[:count].tolist(), strict=True)
    assert pairs == [(i, j) for i, (a, size) in enumerate(groups) for j in range(a, a + size)]


_updates = st.lists(st.tuples(st.integers(0, 4), any_int64), max_size=25)


@for_all(st.lists(_updates, max_size=3), st.sampled_from([1, -1]))
def test_improve_keeps_the_best_and_names_each_change_once(rounds: list[list[tuple[int, int]]], sign: int):
    best, state = np.zeros(5, np.int64), np.zeros(5, np.uint8)
    expected: dict[int, int] = {}
    for updates in rounds:
        before = dict(expected)
        for number, value in updates:
            old = expected.get(number, value)
            expected[number] = min(old, value) if sign > 0 else max(old, value)
        changed = np.empty(5, np.int64)
        numbers, values = words(n for n, _ in updates), words(v for _, v in updates)
        count = improve(best, state, numbers, values, sign, changed)
        assert len(set(changed[:count].tolist())) == count
        assert set(changed[:count].tolist()) == {n for n in expected if before.get(n) != expected[n]}
        assert {n: int(best[n]) for n in range(5) if state[n]} == expected
        state[changed[:count]] = 1

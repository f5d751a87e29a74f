"""Rows by key: a probe finds what a loop over all rows finds, whatever the runs are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import any_int64, for_all, words

from flintlog.engines.local.storage.arrangement import Arrangement, Columns, Run
from flintlog.engines.local.storage.packing import Packing

Row = tuple[int, ...]
ARITY = 3
# Dense keys, keys that take a hash table, and keys that do not fit a word.
VALUES = {"dense": st.integers(0, 6), "hashed": st.integers(-(10**6), 10**6), "wide": any_int64}


def columns_of(rows: Sequence[Row]) -> Columns:
    return lambda position, start, end: words(row[position] for row in rows[start:end])


def found(runs: Sequence[Run], asked: Sequence[Row]) -> list[list[Row]]:
    """The rows that all runs together find for each tuple of key values."""
    result: list[list[Row]] = [[] for _ in asked]
    for run in runs:
        keys = [words(values[i] for values in asked) for i in range(len(asked[0]) if asked else 0)]
        low, high, total = run.probe(keys, len(asked))
        assert total == int((high - low).sum())
        payload = list(zip(*(run.payload(position).tolist() for position in range(ARITY)), strict=True))
        for place, (a, b) in enumerate(zip(low, high, strict=True)):
            result[place] += payload[a:b]
    return result


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("key", [(), (0,), (2,), (0, 1), (2, 0), (0, 1, 2)])
def test_a_probe_is_a_loop_over_all_rows(values: str, key: tuple[int, ...]):
    row = st.tuples(*[VALUES[values]] * ARITY)

    @for_all(st.lists(row, max_size=25), st.lists(row, max_size=8), st.data(), examples=40)
    def check(rows: list[Row], others: list[Row], data: DataObject) -> None:
        arrangement = Arrangement(columns_of(rows), key)
        asked = [tuple(row[p] for p in key) for row in [*rows[:5], *others]]
        ends = data.draw(st.lists(st.integers(0, len(rows)), max_size=4).map(sorted))
        for end in ends:
            runs = list(arrangement.runs_to(end))
            expected = [[r for r in rows[:end] if tuple(r[p] for p in key) == values] for values in asked]
            assert [sorted(some) for some in found(runs, asked)] == [sorted(some) for some in expected]

    check()


def test_rows_of_a_key_keep_their_order():
    rows = [(1, 5, 0), (0, 4, 0), (1, 3, 0), (1, 4, 0)]
    assert found([Run(columns_of(rows), (0,), 0, 4)], [(1,)]) == [[(1, 5, 0), (1, 3, 0), (1, 4, 0)]]
    assert found([Run(columns_of(rows), (0,), 2, 4)], [(1,)]) == [[(1, 3, 0), (1, 4, 0)]]


@for_all(st.lists(st.integers(1, 40), max_size=30))
def test_runs_are_adjacent_and_each_is_much_smaller_than_the_one_before(steps: list[int]):
    rows = [(i, 0, 0) for i in range(sum(steps))]
    arrangement = Arrangement(columns_of(rows), (0,))
    moved = end = 0
    for step in steps:
        before = set(map(id, arrangement.runs))
        end += step
        runs = list(arrangement.runs_to(end))
        assert [(run.start, run.end) for run in runs] == [
            *((a.start, b.start) for a, b in pairwise(runs)),
            (runs[-1].start, end),
        ]
        assert runs[0].start == 0
        sizes = [run.end - run.start for run in runs]
        assert all(a >= 2 * b for a, b in pairwise(sizes))
        moved += sum(run.end - run.start for run in runs if id(run) not in before)
        assert list(arrangement.runs_to(end)) == runs
    assert moved <= max(1, end) * (2 + 2 * max(1, end).bit_length())


def test_what_a_run_contributes_to_other_keys():
    rows = [(3, -2, 9), (3, 4, 8)]
    run = Run(columns_of(rows), (0,), 0, 2)
    assert (run.range(1), run.range(2)) == ((-2, 4), (8, 9))
    packing = Packing((0, -4), (3, 4))
    assert run.packed(1, packing, 1).tolist() == [2, 8]
    assert run.packed(1, packing, 1) is run.packed(1, packing, 1)
    assert np.array_equal(run.packed(0, packing, 0), [3 << 4, 3 << 4])

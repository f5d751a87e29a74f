"""Growing sets of keys, hashed and as bits, in one thread and in two, against Python's sets."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import Join, for_all, joins, words

from flintlog.engines.local.storage import bit_set, key_set
from flintlog.engines.local.storage.bit_set import BitSet, pays_as_bits
from flintlog.engines.local.storage.key_set import MIN_BITS, KeySet
from flintlog.engines.local.storage.packing import Array

BITS = 12
_batches = st.lists(st.lists(st.integers(0, (1 << BITS) - 1), max_size=60), max_size=4)


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny batches, and threads for everything."""
    monkeypatch.setattr(key_set, "BATCH", 3)
    monkeypatch.setattr(bit_set, "BATCH", 3)
    monkeypatch.setattr(key_set, "PARALLEL_CANDIDATES", 1)
    monkeypatch.setattr(bit_set, "PARALLEL_CANDIDATES", 1)


def sets(pool: ThreadPoolExecutor) -> list[KeySet | BitSet]:
    return [KeySet(1, None), KeySet(2, pool), KeySet(3, pool), KeySet(4, None), BitSet(BITS), BitSet(BITS, pool)]


def flat(parts: list[Array]) -> list[int]:
    return [key for part in parts for key in part.tolist()]


def check_batches(one: KeySet | BitSet, batches: list[list[int]]) -> None:
    known: set[int] = set()
    for batch in batches:
        assert sorted(flat(one.insert(words(batch)))) == sorted(set(batch) - known)
        known |= set(batch)
        assert len(one) == len(known)
    asked = [*range(0, 1 << BITS, 7), *known, -1, -2, -(1 << 63)]
    assert one.contains(words(asked)).tolist() == [key in known for key in asked]


def check_join(one: KeySet | BitSet, known: list[int], join: Join) -> None:
    one.insert(words(known))
    new = flat(one.insert_join(join.left, join.low, join.high, join.right, join.total))
    assert sorted(new) == sorted(join.distinct(known))
    assert len(one) == len({*known, *join.candidates()})


@pytest.mark.usefixtures("small")
def test_batches_of_keys(pool: ThreadPoolExecutor):
    @for_all(_batches, examples=60)
    def check(batches: list[list[int]]) -> None:
        for one in sets(pool):
            check_batches(one, batches)

    check()


@pytest.mark.usefixtures("small")
def test_joins(pool: ThreadPoolExecutor):
    @for_all(joins(4, 8), st.lists(st.integers(0, (1 << BITS) - 1), max_size=20), examples=100)
    def check(join: Join, known: list[int]) -> None:
        for one in sets(pool):
            check_join(one, known, join)

    check()


@pytest.mark.usefixtures("small")
def test_a_join_that_takes_all_bits_of_the_right_side_runs_in_one_thread(pool: ThreadPoolExecutor):
    both = Join(words([0, 1]), words([0, 0]), words([4, 4]), words([0, (1 << BITS) - 2, 64, 2]))
    check_join(BitSet(BITS, pool), [64], both)


def test_tables_grow_before_they_are_full():
    asked: list[int] = []
    one = KeySet(1, None, asked.append)
    for start in range(0, 20_000, 500):
        one.insert(np.arange(start, start + 500))
        assert len(one) * 8 <= one.tables[0].size * 5
    assert len(one) == 20_000
    assert one.contains(np.arange(-5, 20_005)).tolist() == [0 <= key < 20_000 for key in range(-5, 20_005)]
    assert asked == [8 << bits for bits in range(MIN_BITS + 1, 16)]
    assert one.nbytes == asked[-1]


def test_one_bit_a_key_pays_when_it_is_smaller_than_the_table():
    one = KeySet(1, None)
    assert one.nbytes == 8 << MIN_BITS
    assert pays_as_bits(one, MIN_BITS + 6)
    assert not pays_as_bits(one, MIN_BITS + 7)
    assert BitSet(MIN_BITS + 6).nbytes == one.nbytes
    assert BitSet(3).nbytes == 8

"""Arrays that grow keep what they have, also where the system moves their memory."""

from __future__ import annotations

import mmap
import sys

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import any_int64, for_all, words

from flintlog.engines.local.storage import block
from flintlog.engines.local.storage.block import Block, Log, block_of


@for_all(st.lists(any_int64, max_size=20), examples=30)
def test_a_block_is_a_list_at_an_address(values: list[int]):
    found = block_of(values)
    assert [found[i] for i in range(len(values))] == values
    assert found.address == np.frombuffer(found, np.int64).ctypes.data
    empty = Block(0)
    empty[0] = 7
    assert empty[0] == 7


@for_all(st.lists(st.lists(any_int64, max_size=20), max_size=5), examples=30)
def test_a_log_is_a_list(batches: list[list[int]]):
    asked: list[int] = []
    log, expected = Log(asked.append), list[int]()
    for batch in batches:
        log.reserve(len(expected) + len(batch))
        log.array[len(expected) : len(expected) + len(batch)] = words(batch)
        expected += batch
        assert log.array[: len(expected)].tolist() == expected
    assert bool(asked) is (len(expected) > 16)


def test_a_large_log_is_a_map_that_moves(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(block, "DOUBLING", 1 << 10)
    asked: list[int] = []
    log = Log(asked.append)
    sizes = [100, 1000, 1 << 12, 1 << 18, (1 << 18) + 1, 1 << 20]
    written = 0
    for size in sizes:
        log.reserve(size)
        assert log.capacity >= size
        log.array[written:size] = np.arange(written, size)
        written = size
        assert np.array_equal(log.array[:size], np.arange(size))
        assert log.address == log.array.ctypes.data
    assert isinstance(log._map, mmap.mmap) is (sys.platform == "linux")
    assert sum(asked) <= 8 * sizes[-1]


def test_a_refusal_leaves_the_log_as_it_is():
    def refuse(size: int) -> None:
        raise MemoryError(size)

    log = Log(refuse)
    log.array[:] = np.arange(16)
    with pytest.raises(MemoryError, match="672"):
        log.reserve(100)
    assert log.array.tolist() == list(range(16))


@pytest.mark.parametrize("doubling", [1 << 20, 1 << 10])
def test_a_log_grows_while_a_view_of_it_lives(doubling: int, monkeypatch: pytest.MonkeyPatch):
    """The view is of no use afterwards, but it does not keep the log from growing."""
    monkeypatch.setattr(block, "DOUBLING", doubling)
    log = Log(lambda size: None)
    log.array[:] = np.arange(16)
    view = log.array[2:5]
    log.reserve(1 << 11)
    assert log.capacity >= 1 << 11
    assert log.array[:16].tolist() == list(range(16))
    assert view.size == 3

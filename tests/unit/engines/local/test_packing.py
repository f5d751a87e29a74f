"""Rows as keys: what is packed comes out again, keys sort as rows do, and what does not fit is never found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import MAX, MIN, any_int64, for_all, words

from flintlog.engines.local.storage.packing import KEY_BITS, Packing, Range, joined, packing_for, range_of

_ranges = st.lists(
    st.one_of(
        st.tuples(st.integers(-5, 5), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1])),
        st.tuples(any_int64, any_int64).map(lambda pair: (min(pair), max(pair))),
    ),
    min_size=1,
    max_size=5,
)


@for_all(_ranges, st.integers(0, 3), st.data(), examples=120)
def test_packing_and_unpacking_is_identity(ranges: list[Range], spare: int, data: DataObject):
    packing = packing_for(ranges, spare)
    if packing is None:
        assert sum(max(1, (high - low).bit_length()) for low, high in ranges) > KEY_BITS
        return
    assert packing.bits <= KEY_BITS
    assert packing.covers(ranges)
    row = st.tuples(*(st.one_of(st.integers(low, high), st.sampled_from([low, high])) for low, high in ranges))
    rows = data.draw(st.lists(row, max_size=10))
    columns = [words(row[i] for row in rows) for i in range(len(ranges))]
    keys = packing.pack(columns)
    assert all(0 <= key < 1 << packing.bits for key in keys.tolist())
    assert [packing.unpack(keys, i).tolist() for i in range(len(ranges))] == [column.tolist() for column in columns]
    assert packing.pack_or_miss(columns).tolist() == keys.tolist()
    assert sorted(rows) == [row for _, row in sorted(zip(keys.tolist(), rows, strict=True))]


@for_all(_ranges, st.data(), examples=120)
def test_rows_out_of_range_are_missed(ranges: list[Range], data: DataObject):
    packing = packing_for(ranges)
    if packing is None:
        return
    rows = data.draw(st.lists(st.tuples(*[any_int64] * len(ranges)), max_size=10))
    keys = packing.pack_or_miss([words(row[i] for row in rows) for i in range(len(ranges))])
    for row, key in zip(rows, keys.tolist(), strict=True):
        fits = all(low <= value <= high for value, (low, high) in zip(row, packing.ranges(), strict=True))
        assert (key >= 0) is fits
        if fits:
            assert tuple(int(packing.unpack(words([key]), i)[0]) for i in range(len(row))) == row


@pytest.mark.parametrize(
    ("ranges", "widths"),
    [
        ([(0, (1 << 31) - 1)] * 2, (31, 31)),  # 62 bits just do, without any to spare
        ([(0, (1 << 30) - 1)] * 2, (31, 31)),
        ([(0, (1 << 31) - 1), (0, 1 << 31)], None),
        ([(0, (1 << 62) - 1)], (62,)),
        ([(0, 1 << 62)], None),
        ([(MIN, MIN + 7)], (4,)),
        ([(MAX - 7, MAX)], (4,)),
        ([(MIN, MAX)], None),
        ([(0, 0)] * 31, (2,) * 31),
        ([(0, 0)] * 62, (1,) * 62),
        ([(0, 0)] * 63, None),
    ],
)
def test_62_bits_are_the_limit(ranges: list[Range], widths: tuple[int, ...] | None):
    packing = packing_for(ranges)
    assert (packing and packing.widths) == widths


def test_a_range_near_zero_begins_at_zero():
    assert packing_for([(1, 6)]) == Packing((0,), (4,))
    assert packing_for([(-1, 6)]) == Packing((-1,), (4,))
    assert packing_for([(1000, 1001)]) == Packing((1000,), (2,))


def test_ranges_of_columns():
    assert range_of(words([])) == (0, 0)
    assert range_of(words([3, MIN, MAX])) == (MIN, MAX)
    assert joined((1, 2), (-4, 1)) == (-4, 2)


def test_a_packing_covers_what_it_has_room_for():
    packing = Packing((0, -8), (2, 4))
    assert packing.ranges() == [(0, 3), (-8, 7)]
    assert packing.covers([(0, 3), (-8, 7)])
    assert not packing.covers([(0, 4), (0, 0)])
    assert not packing.covers([(0, 0), (-9, 0)])


@for_all(st.lists(st.tuples(st.integers(-5, 40), st.integers(0, 70)), min_size=1, max_size=3))
def test_bits_for_every_key(spans: list[tuple[int, int]]) -> None:
    """The last key of the highest values has a bit, in a line of whole words."""
    ranges = [(low, low + span) for low, span in spans]
    packing = packing_for(ranges)
    assert packing is not None
    stride, size = packing.bits_for(ranges)
    highest = int(packing.pack([np.array([high]) for _, high in ranges])[0])
    line, last = highest >> packing.widths[-1], highest & ((1 << packing.widths[-1]) - 1)
    assert stride % 64 == 0
    assert last < stride <= last + 64
    assert size == (line + 1) * stride

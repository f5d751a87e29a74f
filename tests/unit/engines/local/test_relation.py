"""A relation is a list of distinct rows in order of appearance, whatever its representation becomes on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import MAX, MIN, any_int64, for_all, unshuffled
from tests.unit.engines.local.probing import Row, contains, insert, rows_of

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.storage.packing import Array, Packing
from flintlog.engines.local.storage.relation import Relation

# Later batches have wider values: keys are packed, packed anew, and given up.
_widths = [st.integers(0, 3), st.integers(-3, 100), st.integers(-(10**6), 10**9), any_int64]


@pytest.mark.parametrize("arity", [0, 1, 2, 3, 8])
def test_rounds_of_rows(arity: int):
    @for_all(st.data(), examples=40)
    def check(data: DataObject) -> None:
        relation, known, visible = Relation("r", arity), dict[Row, None](), 0
        for width in data.draw(st.lists(st.integers(0, 3), max_size=5)):
            row = st.tuples(*[_widths[width]] * arity)
            for batch in data.draw(st.lists(st.lists(row, max_size=12), max_size=2)):
                insert(relation, batch)
                known.update(dict.fromkeys(batch))
            assert relation.visible == visible
            assert relation.next_round() == len(known) - visible
            assert (relation.delta, relation.visible, relation.size) == (visible, len(known), len(known))
            assert rows_of(relation) == list(known)
            assert rows_of(relation, relation.delta, relation.visible) == list(known)[visible:]
            visible = len(known)
            asked = [*known, *data.draw(st.lists(row, max_size=5))]
            assert contains(relation, asked) == [row in known for row in asked]

    check()


def kind_of(relation: Relation) -> int:
    return relation.block[at.R_SET]


def insert_keys(relation: Relation, keys: Array) -> None:
    relation.insert([keys], keys.size)


def spread(count: int, top: int) -> Array:
    """Different numbers below `top`, in no order."""
    return np.unique(np.random.default_rng(1).integers(0, top, count))


def test_rows_are_packed_anew_and_then_rows_of_words():
    relation = Relation("r", 2)
    insert(relation, [(1, 2), (1, 2), (2, 1)])
    assert relation.packing == Packing((0, 0), (2, 2))
    layout = relation.layout
    insert(relation, [(1, 1 << 40), (1, 2)])
    assert relation.packing is not None
    assert (relation.layout, kind_of(relation)) == (layout + 1, at.SET_KEYS)
    insert(relation, [(MIN, MAX), (1, 2), (MIN, MAX)])
    assert (relation.is_packed, kind_of(relation)) == (False, at.SET_ROWS)
    insert(relation, [(2, 1), (0, 0)])
    assert rows_of(relation) == [(1, 2), (2, 1), (1, 1 << 40), (MIN, MAX), (0, 0)]
    assert contains(relation, [(0, 0), (0, 1), (MIN, MAX), (MAX, MIN)]) == [True, False, True, False]


@pytest.mark.parametrize("low", [MIN, -1, 0, MAX - 100])
def test_a_narrow_range_at_either_end_is_packed(low: int):
    relation, rows = Relation("r", 2), [(low, low + 100), (low + 100, low), (low + 1, low + 1)]
    for _ in range(2):
        insert(relation, rows)
    assert relation.is_packed
    assert rows_of(relation) == rows
    assert contains(relation, [(low, low), (MIN, MAX), (MAX, MIN), *rows]) == [False] * 3 + [True] * 3


def test_many_rows_in_few_values_are_bits_until_a_value_is_outside():
    relation, side = Relation("r", 2), np.arange(70)
    rows = [np.repeat(side, 70), np.tile(side, 70)]
    relation.insert(rows, 4900)
    relation.next_round()
    assert kind_of(relation) == at.SET_BITS
    relation.insert(rows, 4900)
    insert(relation, [(69, 69), (3, 3)])
    assert (relation.size, kind_of(relation)) == (4900, at.SET_BITS)
    assert contains(relation, [(69, 69), (69, 70), (70, 0), (-1, 0), (0, MAX)]) == [True] + [False] * 4
    insert(relation, [(5, 1 << 30)])
    assert kind_of(relation) == at.SET_KEYS
    relation.insert(rows, 4900)
    assert rows_of(relation)[-2:] == [(69, 69), (5, 1 << 30)]
    assert relation.size == 4901


def test_a_set_is_short_while_it_has_many_keys_of_not_many_bits():
    relation, keys = Relation("r", 1), spread(60_000, 1 << 28)
    kinds = []
    for end in (1000, 30_000, keys.size):
        insert_keys(relation, keys[:end])
        kinds.append((kind_of(relation), relation.block[at.R_BITS] >= 16))
    assert kinds == [(at.SET_KEYS, False), (at.SET_SHORT, True), (at.SET_SHORT, True)]
    insert_keys(relation, keys[::-1].copy())
    assert relation.column(0, 0, relation.size).tolist() == keys.tolist()
    assert contains(relation, [(int(keys[7]),), (int(keys[7]) ^ 1,)]) == [True, int(keys[7]) ^ 1 in keys]


def test_a_short_set_whose_keys_are_nearly_all_there_has_whole_keys_again():
    relation, keys = Relation("r", 1), np.arange(1 << 17)
    insert_keys(relation, keys)
    insert_keys(relation, keys)
    assert (relation.size, kind_of(relation)) == (keys.size, at.SET_KEYS)


def crowd(relation: Relation, count: int) -> Array:
    """Keys that a short set would all have in the same slot."""
    assert relation.packing is not None
    width, bits = relation.packing.bits, relation.block[at.R_BITS]
    assert count <= 1 << (width - bits)
    return unshuffled(np.arange(count) + (5 << (width - bits)), width)


@pytest.mark.parametrize("count", [at.FAR // 2, at.FAR + 20])
def test_a_crowded_short_set_grows(count: int):
    relation, keys = Relation("r", 1), spread(26_500, 1 << 29)
    insert_keys(relation, keys)
    assert (kind_of(relation), relation.block[at.R_BITS]) == (at.SET_SHORT, 16)
    same_slot = crowd(relation, count)
    expected = dict.fromkeys([*keys.tolist(), *same_slot.tolist()])
    for _ in range(2):
        insert_keys(relation, same_slot)
        assert relation.column(0, 0, relation.size).tolist() == list(expected)
    assert (relation.block[at.R_BITS] > 16) is (count > at.FAR)
    insert_keys(relation, keys)
    assert relation.size == len(expected)


def test_many_rows_of_words():
    relation = Relation("r", 3)
    numbers = np.arange(5000)
    rows = [numbers * 0x9E3779B97F4A7C1, -numbers, numbers % 7]
    for _ in range(2):
        relation.insert(rows, numbers.size)
    assert (relation.size, kind_of(relation)) == (5000, at.SET_ROWS)
    assert [column.tolist() for column in relation.columns()] == [column.tolist() for column in rows]


def test_room_for_values_to_come_keeps_the_rows():
    relation = Relation("r", 2)
    insert(relation, [(1, 2), (3, 4)])
    relation.prepare([(-(10**6), 0), (0, 10**6)])
    layout = relation.layout
    insert(relation, [(-(10**6), 10**6), (1, 2)])
    assert relation.layout == layout
    assert rows_of(relation) == [(1, 2), (3, 4), (-(10**6), 10**6)]


@for_all(st.lists(st.tuples(any_int64, any_int64), min_size=1, max_size=8))
def test_ranges_hold_every_row_they_are_widened_for(rows: list[Row]):
    relation = Relation("r", 2)
    insert(relation, rows[:1])
    for row in rows:
        if not relation.widen(row):
            assert relation.packing is not None
            assert not relation.packing.covers([(value, value) for value in row])
            relation.prepare([(value, value) for value in row], 6)
        assert relation.ranges is not None
        assert all(low <= value <= high for value, (low, high) in zip(row, relation.ranges, strict=True))
    insert(relation, rows)
    assert rows_of(relation) == list(dict.fromkeys(rows))


def test_a_relation_without_columns_has_at_most_one_row():
    relation = Relation("done", 0)
    assert contains(relation, [()]) == [False]
    insert(relation, [()])
    insert(relation, [(), ()])
    assert (relation.size, relation.next_round(), relation.next_round()) == (1, 1, 0)
    assert contains(relation, [(), ()]) == [True, True]


def test_an_empty_copy_has_name_and_arity_only():
    relation = Relation("r", 2)
    insert(relation, [(1, 2)])
    copy = relation.empty()
    assert (copy.name, copy.arity, copy.size) == ("r", 2, 0)
    assert contains(copy, [(1, 2)]) == [False]


@pytest.mark.parametrize("wide", [False, True])
def test_a_sample_is_spread_over_the_visible_rows(wide: bool):
    relation, numbers = Relation("r", 2), np.arange(1000)
    relation.insert([numbers, numbers * (1 << 53) if wide else numbers], 1000)
    assert relation.sample(0, 10).size == 0
    relation.next_round()
    assert relation.is_packed is not wide
    assert relation.sample(0, 10).tolist() == list(range(0, 1000, 100))
    assert relation.sample(0, 5000).tolist() == numbers.tolist()


@pytest.mark.parametrize("high", [100, 1 << 62], ids=["packed", "wide"])
def test_a_copy_has_some_of_the_rows_and_lives_on_its_own(high: int) -> None:
    relation = Relation("r", 2)
    rows = [(i, high - i) for i in range(100)]
    relation.insert([np.array(column, np.int64) for column in zip(*rows, strict=True)], len(rows))
    relation.next_round()
    copy = relation.copy(np.arange(0, 100, 2))
    more = [(0, high), (1, high - 1), (500, 7)]  # known, left out, beyond all ranges
    copy.insert([np.array(column, np.int64) for column in zip(*more, strict=True)], len(more))
    copy.next_round()
    found = list(zip(*(column.tolist() for column in copy.columns()), strict=True))
    assert found == [*rows[::2], *more[1:]]
    assert relation.size == 100
    assert relation.copy(np.empty(0, np.int64)).size == 0


@pytest.mark.parametrize("high", [100, 1 << 62], ids=["packed", "wide"])
def test_rows_that_differ_are_taken_as_they_are(high: int) -> None:
    rows = [(i, high - i) for i in range(5000)]
    taken = Relation("r", 2)
    taken.take([np.array(column, np.int64) for column in zip(*rows, strict=True)], len(rows))
    taken.insert([np.array([0, -7]), np.array([high, 9])], 2)
    taken.next_round()
    assert list(zip(*(column.tolist() for column in taken.columns()), strict=True)) == [*rows, (-7, 9)]

"""A relation is a list of distinct rows in order of appearance, whatever its representation becomes on the way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import MAX, MIN, Join, any_int64, for_all, joins, words

from flintlog.engines.local.storage.bit_set import BitSet
from flintlog.engines.local.storage.packing import Packing
from flintlog.engines.local.storage.relation import Log, Relation

Row = tuple[int, ...]


def insert(relation: Relation, rows: Sequence[Row]) -> None:
    relation.insert([words(row[i] for row in rows) for i in range(relation.arity)], len(rows))


def rows_of(relation: Relation, start: int = 0, end: int | None = None) -> list[Row]:
    end = relation.size if end is None else end
    if relation.arity == 0:
        return [()] * (end - start)
    return list(zip(*(relation.column(p, start, end).tolist() for p in range(relation.arity)), strict=True))


def contains(relation: Relation, rows: Sequence[Row]) -> list[bool]:
    found = relation.contains([words(row[i] for row in rows) for i in range(relation.arity)], len(rows))
    return [bool(value) for value in found]


# Later batches have wider values: keys are packed, packed anew, and given up.
_widths = [st.integers(0, 3), st.integers(-3, 100), st.integers(-(10**6), 10**9), any_int64]


@pytest.mark.parametrize("arity", [0, 1, 2, 3, 8])
def test_rounds_of_rows(arity: int):
    @for_all(st.data(), examples=60)
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


def has_bits(relation: Relation) -> bool:
    return isinstance(relation._set, BitSet)


def test_representations_follow_the_values():
    relation = Relation("r", 2)
    insert(relation, [(1, 2), (1, 2), (2, 1)])
    assert relation.packing == Packing((0, 0), (2, 2))
    assert has_bits(relation)
    insert(relation, [(1, 1 << 40), (1, 2)])
    assert relation.packing is not None
    assert not has_bits(relation)
    insert(relation, [(MIN, MAX), (1, 2), (MIN, MAX)])
    assert not relation.prepare([(0, 0), (0, 0)])
    insert(relation, [(2, 1), (0, 0)])
    assert rows_of(relation) == [(1, 2), (2, 1), (1, 1 << 40), (MIN, MAX), (0, 0)]
    assert contains(relation, [(0, 0), (0, 1), (MIN, MAX)]) == [True, False, True]


def test_arrangements_outlive_a_new_packing():
    relation = Relation("r", 2)
    insert(relation, [(1, 10), (2, 20), (1, 11)])
    relation.next_round()
    (run,) = relation.runs((0,), relation.visible)
    insert(relation, [(1, -(10**12)), (MIN, MAX)])
    low, high, _ = run.probe([words([1])], 1)
    assert run.payload(1)[low[0] : high[0]].tolist() == [10, 11]
    relation.next_round()
    found = [
        value
        for one in relation.runs((0,), relation.visible)
        for low, high, _ in [one.probe([words([1])], 1)]
        for value in one.payload(1)[low[0] : high[0]].tolist()
    ]
    assert sorted(found) == [-(10**12), 10, 11]


@for_all(st.lists(joins(4, 6), max_size=3), st.lists(st.tuples(st.integers(0, 63), st.integers(0, 15)), max_size=10))
def test_joins_go_into_the_log(batches: list[Join], first: list[Row]):
    relation, known = Relation("r", 2), dict.fromkeys(first)
    insert(relation, first)
    assert relation.prepare([(0, 63), (0, 15)])
    assert relation.packing is not None
    shift = relation.packing.shifts[0]
    for join in batches:
        left = words(int(key) >> 4 << shift for key in join.left)
        relation.insert_join(left, join.low, join.high, join.right, join.total)
        known.update(dict.fromkeys((key >> 4, key & 15) for key in join.candidates()))
    assert rows_of(relation) == list(known)


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


@for_all(st.lists(st.lists(any_int64, max_size=40), max_size=8))
def test_a_log_is_a_list(batches: list[list[int]]):
    asked: list[int] = []
    log = Log(asked.append)
    for batch in batches:
        log.append(words(batch))
    expected = [value for batch in batches for value in batch]
    assert log.size == len(expected)
    assert log.view(0, log.size).tolist() == expected
    assert bool(asked) is (len(expected) > 16)
    assert log.view(log.size // 2, log.size).tolist() == expected[log.size // 2 :]

"""An index is a dictionary from values to the visible rows that have them, whatever its keys look like."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy
from tests.unit.engines.local.arrays import MAX, MIN, any_int64, for_all
from tests.unit.engines.local.probing import FilterBy, Row, insert, probe, visible

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.storage import index as module
from flintlog.engines.local.storage.relation import Relation

small, medium = st.integers(-2, 5), st.integers(-(10**9), 10**9)


def found(rows: Sequence[Row], key: tuple[int, ...], asked: Sequence[Row]) -> list[Row]:
    return sorted(row for value in asked for row in rows if tuple(row[p] for p in key) == value)


def check_rounds(data: DataObject, key: tuple[int, ...], values: Sequence[SearchStrategy[int]]) -> None:
    """Rounds of rows whose values come from one strategy after the other."""
    relation, known = Relation("r", 3), dict[Row, None]()
    for value in values:
        row = st.tuples(st.one_of(small, value), st.one_of(small, value), small)
        batch = data.draw(st.lists(row, max_size=15))
        new = [one for one in dict.fromkeys(batch) if one not in known]
        insert(relation, batch)
        before = list(known)
        asked = list({tuple(one[p] for p in key) for one in [*before, *batch, *data.draw(st.lists(row, max_size=3))]})
        assert sorted(probe(relation, key, asked)) == found(before, key, asked)
        relation.next_round()
        known.update(dict.fromkeys(batch))
        assert sorted(probe(relation, key, asked)) == found(list(known), key, asked)
        assert sorted(probe(relation, key, asked, delta=True)) == found(new, key, asked)


KEYS: list[tuple[int, ...]] = [(), (0,), (1,), (0, 1), (0, 2)]


# Chains only, ordered now and then, ordered in every round.
@pytest.mark.parametrize("chained", [1000, 4, -1])
@pytest.mark.parametrize("dense", [True, False])
def test_rounds_of_rows(chained: int, dense: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CHAINED", chained)
    monkeypatch.setattr(module, "STEP", 4)
    if not dense:
        monkeypatch.setattr(module, "DENSE_DOMAIN", 0)
        monkeypatch.setattr(module, "DENSE_FACTOR", 0)

    strategies = st.lists(st.sampled_from([small, medium, any_int64]), max_size=4)

    @for_all(st.data(), st.sampled_from(KEYS), strategies, examples=25)
    def check(data: DataObject, key: tuple[int, ...], values: list[SearchStrategy[int]]) -> None:
        check_rounds(data, key, values)

    check()


def test_the_kind_follows_the_values():
    rows = [(i, i * 1000, i) for i in range(100)]
    relation = visible(3, rows)
    assert [relation.index(key).block[at.X_KIND] for key in ((0,), (1,), (0, 1))] == [
        at.INDEX_DENSE,
        at.INDEX_HASH,
        at.INDEX_HASH,
    ]
    insert(relation, [(MIN, MAX, 0), (MAX, MIN, 1)])
    relation.next_round()
    kinds = [relation.index(key).block[at.X_KIND] for key in ((2,), (1,), (0, 1), (0, 2))]
    assert kinds == [at.INDEX_DENSE, at.INDEX_WIDE, at.INDEX_WIDE, at.INDEX_WIDE]
    assert probe(relation, (0, 1), [(MIN, MAX), (MIN, MIN), (5, 5000)]) == [(MIN, MAX, 0), (5, 5000, 5)]


def test_new_rows_are_chained_and_many_are_ordered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CHAINED", 10)
    relation, parts = Relation("r", 2), []
    for round_ in range(6):
        insert(relation, [(i % 3, 10 * round_ + i) for i in range(10)])
        relation.next_round()
        index = relation.index((0,))
        parts.append((index.block[at.X_BASE], index.block[at.X_END]))
    assert parts == [(0, 10), (20, 20), (20, 30), (40, 40), (40, 50), (40, 60)]
    assert len(probe(relation, (0,), [(1,)])) == 18


def test_an_index_is_of_use_for_a_round():
    relation = visible(2, [(1, 2)])
    index = relation.index((0,))
    assert relation.indexes_in_use() == [index]
    assert relation.indexes_in_use() == []
    assert relation.index((0,)) is index
    assert relation.indexes_in_use() == [index]


def test_a_range_that_grows_in_rows_of_words():
    relation = visible(2, [(1, MIN), (2, MAX)])
    assert not relation.is_packed
    assert probe(relation, (0,), [(1,), (100,)]) == [(1, MIN)]
    layout = relation.layout
    for high in (100, 10**6, 10**12, MAX):
        insert(relation, [(high, 0), (-high, 1)])
        relation.next_round()
        assert probe(relation, (0,), [(high,), (-high,), (2,)]) == [(high, 0), (-high, 1), (2, MAX)]
    assert relation.layout == layout


def test_a_new_layout_is_taken_over():
    relation = visible(2, [(1, 10), (2, 20), (1, 11)])
    assert sorted(probe(relation, (0,), [(1,)])) == [(1, 10), (1, 11)]
    for value in (-(10**12), MIN):
        insert(relation, [(1, value)])
        assert sorted(probe(relation, (0,), [(1,)]))[-2:] == [(1, 10), (1, 11)]
        relation.next_round()
        assert min(probe(relation, (0,), [(1,)])) == (1, value)
    assert len(probe(relation, (0,), [(1,)])) == 4


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("chained", [1000, -1])
def test_filters_leave_rows_out(wide: bool, chained: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CHAINED", chained)
    far = MAX if wide else 9

    @for_all(st.data(), examples=25)
    def check(data: DataObject) -> None:
        value = st.one_of(st.integers(0, 4), st.just(far))
        one, two = (data.draw(st.lists(st.tuples(value, value), max_size=8)) for _ in range(2))
        filters: list[FilterBy] = [(visible(2, one), (1,), (2,)), (visible(2, two), (0, 1), (1, 2))]
        relation, known = Relation("r", 3), dict[Row, None]()
        for _ in range(2):
            batch = data.draw(st.lists(st.tuples(value, value, value), max_size=15))
            insert(relation, batch)
            relation.next_round()
            known.update(dict.fromkeys(batch))
            asked = [(i,) for i in (*range(5), far)]
            passing = [row for row in known if row[2] in {b for _, b in one}]
            assert sorted(probe(relation, (0,), asked, filters[:1])) == found(passing, (0,), asked)
            passing = [row for row in passing if row[1:] in two]
            assert sorted(probe(relation, (0,), asked, filters)) == found(passing, (0,), asked)
        assert sorted(probe(relation, (0,), asked)) == found(list(known), (0,), asked)

    check()


def test_a_delta_index_follows_the_delta():
    relation = visible(2, [(1, 1), (2, 2)])
    insert(relation, [(1, 3)])
    assert probe(relation, (0,), [(1,), (2,)], delta=True) == [(1, 1), (2, 2)]
    relation.next_round()
    assert probe(relation, (0,), [(1,), (2,)], delta=True) == [(1, 3)]
    relation.next_round()
    assert probe(relation, (0,), [(1,), (2,)], delta=True) == []
    relation.all_is_new()
    assert sorted(probe(relation, (0,), [(1,), (2,)], delta=True)) == [(1, 1), (1, 3), (2, 2)]

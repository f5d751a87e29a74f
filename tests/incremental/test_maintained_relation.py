"""What an update has changed is the same, whether it is found by what was touched or by looking at all rows, and
whether rows stay in their log or go into another."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows import maintained_relation as room
from flintlog.incremental.rows import net_changes, row_rounds
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER


def changed(kept: MaintainedRelation) -> list[int]:
    """The positions of rows whose round is another than before the update."""
    places: list[int] = np.flatnonzero(kept.rounds.old != kept.rounds.new).tolist()
    return places


@pytest.mark.parametrize("one_by_one", [0, 1_000])
@pytest.mark.parametrize("scanned", [0, 1, 1_000_000])
def test_changes_are_found_either_way(scanned: int, one_by_one: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_rounds, "_SCANNED", scanned)
    monkeypatch.setattr(net_changes, "_ONE_BY_ONE", one_by_one)
    kept = MaintainedRelation(Relation("r", 1))
    places = kept.enter([np.arange(200)], 200)
    kept.rounds.set_round(places[:100], 1)
    kept.keep()
    assert kept.rounds.size == 100
    assert changed(kept) == []
    kept.rounds.set_round(places[90:100], NEVER)
    kept.rounds.set_round(places[95:110], 2)  # five that had gone come in another round
    kept.rounds.set_round(places[0:1], 2)
    kept.rounds.set_round(places[0:1], 1)  # and one is as it was
    lost, gained = kept.rounds.lost_and_gained()
    assert changed(kept) == sorted(places[90:110])
    assert (sorted(lost), sorted(gained)) == (sorted(places[90:95]), sorted(places[100:110]))
    kept.keep()
    assert kept.rounds.size == 105
    kept.rounds.set_round(places[:50], NEVER)
    kept.take_back()
    assert changed(kept) == []
    assert kept.rounds.size == 105


NARROW, WIDE = st.integers(-3, 40), st.sampled_from([0, 1, -(1 << 63), (1 << 63) - 1, 1 << 40])


@given(st.data(), st.integers(0, 3), st.booleans())
def test_every_row_gets_one_place(data: st.DataObject, arity: int, is_wide: bool) -> None:
    """Also rows that come twice, with values that are beyond those before, and more rows than there is room for."""
    row = st.tuples(*[WIDE if is_wide else NARROW] * arity)
    kept, known = MaintainedRelation(Relation("r", arity)), dict[tuple[int, ...], int]()
    for batch in data.draw(st.lists(st.lists(row, min_size=1, max_size=90), min_size=1, max_size=4)):
        found = kept.enter([np.array(column, np.int64) for column in zip(*batch, strict=True)], len(batch))
        for one, place in zip(batch, found.tolist(), strict=True):
            assert known.setdefault(one, place) == place
        assert sorted(known.values()) == list(range(kept.rounds.known))
        assert kept.rounds.present().size == 0
        columns = [column.tolist() for column in kept.columns(np.arange(kept.rounds.known))]
        assert list(zip(*columns, strict=True)) == sorted(known, key=known.__getitem__) or not arity


def rows_of(kept: MaintainedRelation, which: str = "new") -> dict[int, int]:
    """The round of every row that is there."""
    rounds = getattr(kept.rounds, which)
    there = np.flatnonzero(rounds[: kept.rounds.known] != NEVER)
    return dict(zip(kept.columns(there)[0].tolist(), rounds[there].tolist(), strict=True))


def computed(rows: dict[int, int]) -> tuple[Relation, np.ndarray]:
    relation = Relation("r", 1)
    relation.insert([np.array(list(rows))], len(rows))
    return relation, np.array(list(rows.values()), np.int32)


@pytest.mark.parametrize("few", [0, 1_000])
@pytest.mark.parametrize("most_new", [0, 2])
def test_rows_computed_again(most_new: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_NEW", most_new)
    monkeypatch.setattr(room, "FEW", few)
    before = dict.fromkeys(range(10), 1)
    kept = MaintainedRelation(Relation("r", 1))
    kept.rounds.set_round(kept.enter([np.array(list(before))], 10), 1)
    kept.keep()
    for after in (dict.fromkeys(range(8, 60), 2), {8: 1, 9: 3, 500: 2}):
        for is_kept in (False, True):
            given = kept.enter([np.array([9, 70])], 2)
            kept.rounds.set_given(given, True)
            kept = kept.computed_again(*computed(after))
            assert (rows_of(kept), rows_of(kept, "old")) == (after, before)
            lost, gained = (kept.columns(rows)[0].tolist() for rows in kept.rounds.lost_and_gained())
            assert ({*lost}, {*gained}) == ({*before} - {*after}, {*after} - {*before})
            if is_kept:
                kept.keep()
                rewritten = kept.without_what_is_gone()
                assert (rewritten is not kept) == (few == 0 and len(after) == 3)
                kept, before = rewritten, after
            else:
                kept = kept.before or kept
                kept.take_back()
            assert rows_of(kept) == rows_of(kept, "old") == before
            assert (kept.rounds.size, changed(kept)) == (len(before), [])
            facts = kept.columns(kept.rounds.facts())[0]
            assert sorted(facts) == ([9, 70] if is_kept or len(after) == 3 else [])


@pytest.mark.parametrize("wide", [1, 2**40])
def test_places_of_rows_in_any_order(wide: int) -> None:
    """Rows in the order of the log are found one behind the other, others by the table."""
    rows = [(number * wide, -number * wide) for number in range(500)]
    kept = MaintainedRelation(Relation("r", 2))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    places = dict(zip(rows, kept.enter(columns, len(rows)).tolist(), strict=True))
    assert sorted(places.values()) == list(range(500))
    shuffled = random.Random(1).sample(rows, 300)
    for asked in (rows, rows[::3], rows[::7], rows[::-1], shuffled, [(1, 1), *rows[200:260], (7, 7), *rows[190:300]]):
        found = kept.find([np.array(column) for column in zip(*asked, strict=True)], len(asked))
        assert found.tolist() == [places.get(row, -1) for row in asked]

"""Where rows stand in the log, against a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.row_places import RowPlaces

NARROW, WIDE = st.integers(-3, 40), st.sampled_from([0, 1, -(1 << 63), (1 << 63) - 1, 1 << 40])
ARITIES = st.integers(0, 3)


def columns_of(rows: list[tuple[int, ...]], arity: int) -> list[np.ndarray]:
    return [np.array([row[position] for row in rows], np.int64) for position in range(arity)]


@given(st.data(), ARITIES, st.booleans())
def test_every_row_is_found_where_it_stands(data: st.DataObject, arity: int, is_wide: bool) -> None:
    """Rows come in several times, of values that may be beyond what the packing of the first had room for."""
    row = st.tuples(*[WIDE if is_wide else NARROW] * arity)
    relation = Relation("r", arity)
    places, known = RowPlaces(relation), dict[tuple[int, ...], int]()
    for some in data.draw(st.lists(st.lists(row, max_size=20), min_size=1, max_size=4)):
        relation.insert(columns_of(some, arity), len(some))
        relation.next_round()
        for one in some:
            known.setdefault(one, len(known))
        wanted = [*known, *data.draw(st.lists(row, max_size=5))]
        found = places.find(columns_of(wanted, arity), len(wanted)).tolist()
        assert found == [known.get(one, -1) for one in wanted]


def test_columns_with_gaps_and_columns_that_may_not_be_written() -> None:
    relation = Relation("r", 2)
    both = np.arange(200, dtype=np.int64).reshape(100, 2)
    relation.insert([both[:, 0].copy(), both[:, 1].copy()], 100)
    both.setflags(write=False)
    assert RowPlaces(relation).find([both[:, 0], both[:, 1]], 100).tolist() == list(range(100))

"""Numbers for values and for rows, against Python's dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import any_int64, colliding, for_all, words

from flintlog.engines.local.storage.numbering import MIN_BITS, Numbering, RowNumbering, groups_of

Row = tuple[int, ...]
_values = st.lists(st.one_of(any_int64, st.sampled_from(colliding(MIN_BITS, 20))), max_size=60)


@for_all(st.lists(_values, max_size=4), _values)
def test_values(batches: list[list[int]], asked: list[int]):
    numbering, expected = Numbering(), dict[int, int]()
    for batch in batches:
        for value in batch:
            expected.setdefault(value, len(expected))
        assert numbering.add(words(batch)).tolist() == [expected[value] for value in batch]
        assert numbering.count == len(expected)
    assert numbering.find(words(asked)).tolist() == [expected.get(value, -1) for value in asked]


@for_all(st.integers(1, 5), st.data())
def test_rows(arity: int, data: DataObject):
    rows = st.lists(st.tuples(*[any_int64] * arity), max_size=20)
    numbering, expected = RowNumbering(arity), dict[Row, int]()
    for batch in data.draw(st.lists(rows, max_size=3)):
        for row in batch:
            expected.setdefault(row, len(expected))
        assert numbering.add([words(row[i] for row in batch) for i in range(arity)]).tolist() == [
            expected[row] for row in batch
        ]
        assert numbering.count == len(expected)
    asked = [*data.draw(rows), *expected]
    found = numbering.find([words(row[i] for row in asked) for i in range(arity)])
    assert found.tolist() == [expected.get(row, -1) for row in asked]


WORD = 1 << 63
KEYS = {
    "narrow": [(0, 1), (3, -2), (0, 1), (5, 5)],
    "beyond an array's reach": [(0, 1 << 40), (7, 0), (0, 1 << 40)],
    "too wide for a word": [(-WORD, WORD - 1), (WORD - 1, -WORD), (-WORD, WORD - 1), (0, 0), (WORD - 1, -WORD)],
}


@pytest.mark.parametrize("rows", KEYS.values(), ids=KEYS)
def test_groups(rows: list[Row]):
    groups = groups_of([words(row[i] for row in rows) for i in range(2)], len(rows))
    assert groups.count == len({*rows})
    keys = list(zip(*(column.tolist() for column in groups.keys), strict=True))
    assert [keys[number] for number in groups.numbers] == rows
    asked = [*rows, (rows[0][0], rows[1][1]), (1 << 50, 1)]
    found = groups.find([words(row[i] for row in asked) for i in range(2)], len(asked))
    assert [keys[number] if number >= 0 else None for number in found] == [*rows, None, None]


def test_groups_by_no_column():
    groups = groups_of([], 3)
    assert (groups.numbers.tolist(), groups.count) == ([0, 0, 0], 1)
    assert np.array_equal(groups.find([], 2), [0, 0])
    assert groups_of([], 0).find([], 1).tolist() == [-1]

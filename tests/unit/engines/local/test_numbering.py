"""Numbers for values and for rows, against Python's dictionaries."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.engines.local.arrays import any_int64, colliding, for_all, words

from flintlog.engines.local.storage.numbering import MIN_BITS, Numbering, RowNumbering

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

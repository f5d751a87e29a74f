"""Rows, each once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flintlog.incremental.rows.distinct import distinct

WORDS = st.one_of(st.integers(-3, 3), st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 40]))


@given(st.integers(1, 3).flatmap(lambda arity: st.lists(st.tuples(*[WORDS] * arity), min_size=1, max_size=20)))
def test_rows_each_once(rows: list[tuple[int, ...]]) -> None:
    found = distinct([np.array(column, np.int64) for column in zip(*rows, strict=True)])
    assert all(column.flags.c_contiguous for column in found)
    assert sorted(zip(*(column.tolist() for column in found), strict=True)) == sorted(set(rows))

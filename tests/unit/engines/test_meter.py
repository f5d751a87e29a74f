"""A meter lets through as many rows as it allows, over all that it counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flintlog.engines.reference.meter import Meter, MeterExceeded
from flintlog.types import Row


def test_rows_pass_until_none_is_left():
    meter = Meter(3)
    assert list(meter.rows([(1,), (2,)])) == [(1,), (2,)]
    assert list(meter.rows([(3,)])) == [(3,)]
    assert list(meter.rows([])) == []
    with pytest.raises(MeterExceeded):
        list(meter.rows([(4,)]))


def test_a_meter_of_zero_lets_nothing_through():
    seen: list[Row] = []
    with pytest.raises(MeterExceeded):
        seen.extend(Meter(0).rows([(1,)]))
    assert seen == []


def test_rows_are_not_asked_for_ahead():
    asked: list[int] = []

    def source() -> Iterator[Row]:
        for i in range(5):
            asked.append(i)
            yield (i,)

    rows = Meter(2).rows(source())
    assert next(rows) == (0,)
    assert asked == [0]

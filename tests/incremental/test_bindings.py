"""What rows say about the variables of a rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rules.bindings import Bindings
from flintlog.ir.scalar import Call, Column, Const, Scalar
from flintlog.ir.words import Words
from flintlog.types import Kind

MACHINE = Machine(Words(64), {}, lambda message, span: None)
X, Y = Column("x", Kind.NUMBER), Column("y", Kind.NUMBER)
SUM = Call("+", (X, Y), Kind.NUMBER)


def bindings(
    values: Sequence[Scalar], rows: Sequence[tuple[int, ...]], *, is_whole: bool = True
) -> list[dict[str, int]]:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.empty(0, np.int64)] * len(
        values
    )
    batch, size = Bindings(values, MACHINE, is_whole=is_whole).batch(columns, len(rows))
    assert all(column.size == size and column.flags.c_contiguous for column in batch.values())
    return [{name: int(column[i]) for name, column in batch.items()} for i in range(size)]


def by_hand(values: Sequence[Scalar], rows: Sequence[tuple[int, ...]]) -> list[dict[str, int]]:
    result: list[dict[str, int]] = []
    for row in rows:
        bound: dict[str, int] = {}
        fits = True
        for value, word in zip(values, row, strict=True):
            if isinstance(value, Const):
                fits &= value.value == word
            elif isinstance(value, Column):
                fits &= bound.setdefault(value.name, word) == word
        if fits and bound not in result:
            result.append(bound)
    return result


def as_set(found: list[dict[str, int]]) -> list[tuple[tuple[str, int], ...]]:
    return sorted(tuple(sorted(one.items())) for one in found)


SCALARS: list[Scalar] = [X, Y, Const(0, Kind.NUMBER), Const(1, Kind.NUMBER), SUM]
VALUES = st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4)


@given(st.data())
def test_each_combination_once(data: st.DataObject) -> None:
    values = data.draw(VALUES)
    row = st.tuples(*[st.integers(0, 2)] * len(values))
    rows = data.draw(st.lists(row, max_size=12, unique=True))
    assert as_set(bindings(values, rows)) == as_set(by_hand(values, rows))


def test_rows_that_have_lost_a_column_may_repeat() -> None:
    assert bindings([X], [(1,), (1,), (2,)], is_whole=False) == [{"x": 1}, {"x": 2}]


def test_nothing_to_look_at_is_one_combination() -> None:
    assert bindings([SUM], [(1,), (2,)]) == [{}]
    assert bindings([Const(1, Kind.NUMBER)], [(2,)]) == []

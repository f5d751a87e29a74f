"""The rows that an update has brought, and those that it has taken away, by their rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.distinct import each_once

# The round of a row that does not hold.
NEVER = (1 << 31) - 1
NO_ROWS: Array = np.empty(0, np.int64)

# Up to so many rows are looked at one by one: arrays would take longer.
_ONE_BY_ONE = 16

Rounds = NDArray[np.int32]


def lost_and_gained(old: Rounds, new: Rounds, touched: Sequence[Array]) -> tuple[Array, Array]:
    """The positions of lost and gained rows, in order and each once. Only touched rows may have changed.

    >>> never = NEVER
    >>> lost_and_gained(np.array([1, 1, never]), np.array([2, never, 1]), [np.array([2, 1, 0]), np.array([2])])
    (array([1]), array([2]))
    """
    if sum(rows.size for rows in touched) <= _ONE_BY_ONE:
        return _of_few(old, new, touched)
    rows = touched[0] if len(touched) == 1 else np.concatenate(touched)
    was, is_there = old[rows] != NEVER, new[rows] != NEVER
    return each_once(rows[was > is_there]), each_once(rows[was < is_there])


def lost_and_gained_of_all(old: Rounds, new: Rounds) -> tuple[Array, Array]:
    """The positions of lost and gained rows, where any row may have changed.

    >>> lost_and_gained_of_all(np.array([1, 1, NEVER]), np.array([2, NEVER, 1]))
    (array([1]), array([2]))
    """
    was, is_there = old != NEVER, new != NEVER
    return np.flatnonzero(was > is_there), np.flatnonzero(was < is_there)


def _of_few(old: Rounds, new: Rounds, touched: Sequence[Array]) -> tuple[Array, Array]:
    rows = sorted({row for some in touched for row in some.tolist()})
    before, after = old.item, new.item
    lost = [row for row in rows if before(row) != NEVER == after(row)]
    gained = [row for row in rows if before(row) == NEVER != after(row)]
    return _array(lost), _array(gained)


def _array(rows: list[int]) -> Array:
    return np.array(rows, np.int64) if rows else NO_ROWS

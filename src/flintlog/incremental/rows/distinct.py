"""Numbers, and rows of several columns, without duplicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.storage.packing import Array, packing_for, range_of


def each_once(numbers: Array) -> Array:
    """In order. (`np.unique` imports masked arrays when it is first called, which takes longer than most updates.)

    >>> each_once(np.array([3, 1, 3]))
    array([1, 3])
    """
    if numbers.size < 2:
        return numbers
    ordered = np.sort(numbers)
    is_first = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    result: Array = ordered[is_first]
    return result


def distinct(columns: Sequence[Array]) -> list[Array]:
    """The same rows in some order, of at least one column.

    >>> distinct([np.array([3, 1, 3]), np.array([5, 1, 5])])
    [array([1, 3]), array([1, 5])]
    """
    packing = packing_for([range_of(column) for column in columns], spare_bits=0)
    if packing is None:
        return list(map(np.ascontiguousarray, np.unique(np.stack(columns), axis=1)))
    keys: Array = np.unique(packing.pack(columns))
    return [packing.unpack(keys, position) for position in range(len(columns))]

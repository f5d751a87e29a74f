"""The values of one column, checked all at once. None where one of them is not plainly a value of the column's type."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gc import disable, enable, isenabled
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flintlog.io.column_facts import Symbols
from flintlog.io.numerals import integer_bounds, is_single
from flintlog.types import Kind, ScalarType

Numbers = NDArray[Any]


def checked_numbers(found: Numbers, scalar: ScalarType, word_size: int) -> Numbers | None:
    """The values of an array of any integers or floats as those of the type."""
    if scalar.kind is Kind.FLOAT:
        return _floats(found, scalar, word_size)
    low, high = integer_bounds(scalar, word_size)
    if found.size and not (low <= int(found.min()) and int(found.max()) <= high):
        return None
    return found.astype(np.uint64 if scalar.kind is Kind.UNSIGNED else np.int64, copy=False)


def _floats(found: Numbers, scalar: ScalarType, word_size: int) -> Numbers | None:
    values = found.astype(np.float64, copy=False)
    # All not-a-numbers have to be one and the same object, which they are not when they come out of an array.
    if np.isnan(values).any():
        return None
    if not is_single(scalar, word_size):
        return values
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    return None if (np.isinf(singles) & np.isfinite(values)).any() else singles.astype(np.float64)


def checked_items(items: Sequence[Any], scalar: ScalarType, word_size: int) -> Numbers | Symbols | None:
    """The values of a column of Python's own numbers and strings."""
    found = set(map(type, items))
    if scalar.kind is Kind.SYMBOL:
        return symbols_of(items) if found <= {str} else None
    if not found <= ({int, float} if scalar.kind is Kind.FLOAT else {int}):
        return None
    code = {Kind.FLOAT: "d", Kind.UNSIGNED: "Q"}.get(scalar.kind, "q")
    try:
        return checked_numbers(np.array(array(code, items)), scalar, word_size)
    except OverflowError:
        return None


def symbols_of(texts: Sequence[str]) -> Symbols:
    """Texts are numbered in the order in which they first appear."""
    distinct = list(dict.fromkeys(texts))
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    return Symbols(np.fromiter(map(place.__getitem__, texts), np.int64, len(texts)), distinct)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For making millions of small lists or tuples, over which the collector would walk again and again."""
    was_enabled = isenabled()
    disable()
    try:
        yield
    finally:
        if was_enabled:
            enable()

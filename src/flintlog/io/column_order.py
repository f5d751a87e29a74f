"""The order of rows in columns: the same as that of rows one by one, see row_order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flintlog.io.column_facts import ColumnFacts, Symbols

Ranks = NDArray[Any]


def in_order(facts: ColumnFacts) -> ColumnFacts:
    """The rows sorted column by column: numbers by size, not-a-number last, symbols by text."""
    columns = [_by_text(column) if isinstance(column, Symbols) else column for column in facts.columns]
    ranks = [column.positions if isinstance(column, Symbols) else column for column in columns]
    if not len(facts):
        return facts
    ordered = _sorted_packed(ranks)
    if ordered is None:
        order = np.lexsort(ranks[::-1])
        ordered = [rank[order] for rank in ranks]
    return ColumnFacts(
        tuple(
            Symbols(rank, column.texts) if isinstance(column, Symbols) else rank
            for rank, column in zip(ordered, columns, strict=True)
        ),
        len(facts),
    )


def _by_text(symbols: Symbols) -> Symbols:
    """The same column with its texts in order, so that their positions are their ranks."""
    order = sorted(range(len(symbols.texts)), key=symbols.texts.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Symbols(rank[symbols.positions], [symbols.texts[place] for place in order])


def _sorted_packed(ranks: list[Ranks]) -> list[Ranks] | None:
    """The sorted rows, if a row of ranks fits into 63 bits: then one sort of plain numbers does it, and the columns are
    taken out of the numbers again. None of floats, and of ranks that are too wide."""
    if any(rank.dtype.kind == "f" for rank in ranks):
        return None
    least = [int(rank.min()) for rank in ranks]
    bits = [(int(rank.max()) - low).bit_length() for rank, low in zip(ranks, least, strict=True)]
    if sum(bits) > 63:
        return None
    packed = np.zeros(len(ranks[0]), np.int64)
    for rank, low, width in zip(ranks, least, bits, strict=True):
        packed <<= width
        packed |= (rank - rank.dtype.type(low)).astype(np.int64, copy=False)
    packed.sort()
    ordered: list[Ranks] = []
    for rank, low, width in zip(reversed(ranks), reversed(least), reversed(bits), strict=True):
        ordered.append((packed & ((1 << width) - 1)).astype(rank.dtype, copy=False) + rank.dtype.type(low))
        packed >>= width
    return ordered[::-1]

"""The message that one rank sends another in one round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Column = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of one relation: columns of machine words, all of the same length. The ranks agree on the meaning of `tag`.
    `rows` may be left out where there are columns; for a relation without columns it is all there is.

    >>> import numpy as np
    >>> Batch(3, [np.arange(5)]).rows, Batch(4, [], 1).rows
    (5, 1)
    """

    tag: int
    columns: Sequence[Column]
    rows: int = -1

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns}
        if any(column.dtype != "int64" for column in self.columns):
            raise TypeError("the columns of a batch are int64")
        rows = self.rows if self.rows >= 0 or not lengths else max(lengths)
        if rows < 0 or lengths - {rows}:
            raise ValueError(f"a batch of {rows} rows with columns of {sorted(lengths)} rows")
        object.__setattr__(self, "rows", rows)


@dataclass(frozen=True, eq=False)
class Message:
    """Small numbers for the receiver (the round, the count of new rows, …), and rows."""

    numbers: tuple[int, ...] = ()
    batches: Sequence[Batch] = field(default_factory=list)

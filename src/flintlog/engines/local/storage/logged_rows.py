"""The rows of a log, packed or as words, and ways to look at them."""

from __future__ import annotations

import numpy as np

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.storage.block import Block, Log
from flintlog.engines.local.storage.packing import Array, Packing
from flintlog.engines.local.storage.some_rows import SomeRows


class LoggedRows:
    """What is appended to the log, by whoever inherits this: only the first `visible` rows are for rules to see."""

    arity: int
    packing: Packing | None
    log: Log
    block: Block
    visible: int

    @property
    def size(self) -> int:
        """How many rows there are, those of the current round included."""
        return self.block[at.R_COUNT]

    @property
    def is_packed(self) -> bool:
        return self.packing is not None

    def column(self, position: int, start: int, end: int) -> Array:
        """A copy of a column's values in some rows."""
        return SomeRows(self.log.array, self.packing, self.arity, self.size).column(position, start, end)

    def rows_at(self, places: Array) -> SomeRows:
        """A copy of the rows at some places of the log."""
        words = self.log.array
        if self.packing is None:
            words = words[: words.size - words.size % self.arity].reshape(-1, self.arity)
        return SomeRows(words[places].ravel(), self.packing, self.arity, places.size)

    def sample(self, position: int, count: int) -> Array:
        """A column's values in about so many of the visible rows, spread evenly."""
        rows = self.rows_at(np.arange(0, self.visible, max(1, self.visible // count)))
        return rows.column(position, 0, rows.size)

    def columns(self) -> list[Array]:
        return [self.column(position, 0, self.size) for position in range(self.arity)]

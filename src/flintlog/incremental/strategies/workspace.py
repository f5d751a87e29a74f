"""The workspace of updates by kernels: all updates of a state use it, one after the other."""

from __future__ import annotations

from typing import Self

import numpy as np

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.library import address
from flintlog.engines.local.storage.block import Block, block_of
from flintlog.engines.local.storage.packing import Array

_FEW_ROUNDS, _FEW_WORDS, _FEW_ROWS = 1 << 8, 1 << 14, 1 << 8
_NOTHING_DONE = block_of([0] * (up.U_INSTANCES + 1 - up.U_ROUND))
# Larger arrays are freed after an update.
_KEPT_WORDS = 1 << 20


class Workspace(Block):
    """The block of an update, and the arrays that it points to."""

    def __new__(cls) -> Self:
        return super().__new__(cls, up.UPDATE_WORDS)

    def __init__(self) -> None:
        self._width = self._arity = self._columns = -1
        self._free = self._rows = self._values = self._batch = self._buffer = np.empty(0, np.int64)
        self._rounds = self._waiting = self._settled = np.empty(0, np.int64)
        self._make_few()

    def _make_few(self) -> None:
        self._set_rounds(np.zeros(2 * _FEW_ROUNDS, np.int64))
        self._set_waiting(np.empty(_FEW_WORDS, np.int64))
        self._set_settled(np.empty(up.SETTLED_WORDS * _FEW_ROWS, np.int64))

    # --- For some clauses -------------------------------------------------------------------------

    def fit(self, width: int, arity: int) -> None:
        """Makes room for clauses of up to `width` literals, and relations of up to `arity` columns."""
        if width > self._width:
            self._width, self._free, self._rows = width, np.zeros(width + 1, np.int64), np.empty(width + 1, np.int64)
            self[up.U_FREE], self[up.U_ROWS] = address(self._free), address(self._rows)
        if arity > self._arity:
            self._arity, self._values = arity, np.empty(arity + 1, np.int64)
            self[up.U_VALUES] = address(self._values)

    def fit_columns(self, columns: int) -> None:
        """Makes room for searches that begin with, or find, so many columns at most."""
        if columns > self._columns:
            self._columns = columns
            self._batch = np.empty(up.BATCH_ROWS * (columns + 1), np.int64)
            self._buffer = np.empty(up.FOUND_ROWS * (columns + 1), np.int64)
            self[up.U_COLUMNS], self[up.U_BUFFER] = address(self._batch), address(self._buffer)

    def values(self, arity: int) -> list[int]:
        """The row that the kernels could not enter."""
        values: list[int] = self._values[:arity].tolist()
        return values

    # --- What grows with an update ----------------------------------------------------------------

    def make_rounds(self, round: int) -> None:
        """Makes room for instances that wait for a round."""
        more = 2 * max(round + 1, self[up.U_NROUNDS]) * 2 - self._rounds.size
        self._set_rounds(np.concatenate((self._rounds, np.zeros(more, np.int64))))

    def make_waiting(self) -> None:
        self._set_waiting(np.concatenate((self._waiting, np.empty(self._waiting.size, np.int64))))

    def make_settled(self, rows: int) -> None:
        """Makes room for so many rows of a round."""
        if rows > self[up.U_SETTLED_ROOM]:
            self._set_settled(np.empty(2 * up.SETTLED_WORDS * rows, np.int64))

    def begin(self) -> None:
        """Begins an update, whose first step spreads the facts that have gone and come."""
        self[up.U_PHASE] = up.SPREAD
        self[up.U_ROUND : up.U_INSTANCES + 1] = _NOTHING_DONE
        self[up.U_STALE] = self[up.U_LAST] = self[up.U_WAITING_END] = self[up.U_NSETTLED] = 0

    def end(self, *, is_finished: bool) -> None:
        """Forgets all instances that wait."""
        self._free[:] = 0
        if max(self._rounds.size, self._waiting.size, self._settled.size) > _KEPT_WORDS:
            self._make_few()
        elif not is_finished:
            self._rounds[:] = 0

    def _set_rounds(self, rounds: Array) -> None:
        self._rounds = rounds
        self[up.U_ROUNDS], self[up.U_NROUNDS] = address(rounds), rounds.size // 2

    def _set_waiting(self, waiting: Array) -> None:
        self._waiting = waiting
        self[up.U_WAITING], self[up.U_WAITING_ROOM] = address(waiting), waiting.size

    def _set_settled(self, settled: Array) -> None:
        self._settled = settled
        self[up.U_SETTLED], self[up.U_SETTLED_ROOM] = address(settled), settled.size // up.SETTLED_WORDS

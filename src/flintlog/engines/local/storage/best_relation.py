"""A relation that keeps one row a key, with the smallest or largest value: recursive MIN and MAX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.numbering import RowNumbering
from flintlog.engines.local.storage.packing import Array, range_of
from flintlog.engines.local.storage.relation import Relation

VALUED, CHANGED = 1, 2


class BestRelation(Relation):
    """While its stratum runs, the log has just the rows whose value improved in the last round: the delta is all that
    matters. `settled` gives the relation with the best rows."""

    def __init__(self, relation: Relation, position: int, sign: int, *, keeps_rounds: bool = False) -> None:
        super().__init__(relation.name, relation.arity, relation._resources)
        self._origin = relation
        self._position, self._sign = position, sign
        self._numbering = RowNumbering(max(1, relation.arity - 1))
        self._keys = [np.empty(16, np.int64) for _ in range(relation.arity - 1)]
        self._best = np.empty(16, np.int64)
        self._state = np.zeros(16, np.int64)
        self._changed: list[Array] = []
        self._rounds: list[Array] | None = [] if keeps_rounds else None  # the keys that improved in each

    @property
    def size(self) -> int:
        return self._numbering.count

    def insert(self, columns: Sequence[Array], size: int) -> None:
        """Improves the values of these rows' keys; what improved becomes visible in the next round."""
        if size == 0:
            return
        values = np.ascontiguousarray(columns[self._position])
        keys = [c for i, c in enumerate(columns) if i != self._position] or [np.zeros(size, np.int64)]
        known = self._numbering.count
        numbers = self._numbering.add(keys)
        count = self._numbering.count
        if count > known:
            self._reserve(count)
            for kept, key in zip(self._keys, keys, strict=False):
                kept[numbers] = key  # the same again for a number that is known
        changed = np.empty(min(size, count), np.int64)
        news = kernels().improve(
            address(self._best),
            address(self._state),
            address(numbers),
            address(values),
            size,
            self._sign,
            address(changed),
        )
        self._changed.append(changed[:news])

    def _reserve(self, count: int) -> None:
        have = self._best.size
        if count > have:
            room = count * 2
            self._request(8 * room * (2 + len(self._keys)))
            self._best, self._state, *self._keys = (
                np.concatenate([array, np.zeros(room - have, np.int64)])
                for array in (self._best, self._state, *self._keys)
            )

    def next_round(self) -> int:
        changed = np.concatenate(self._changed) if self._changed else np.empty(0, np.int64)
        self._changed = []
        if self._rounds is not None:
            self._rounds.append(changed)
        self._state[changed] = VALUED
        columns = self._rows_of(changed)
        self.block[at.R_COUNT] = 0
        if changed.size:
            self.prepare([range_of(column) for column in columns], len(columns))
            words = self._words(columns)
            self.log.reserve(words.size)
            self.log.array[: words.size] = words
        self.block[at.R_COUNT], self.block[at.R_ROWS] = changed.size, self.log.address
        self._see(0, changed.size)
        self.layout += 1  # the rows are others, even if there are as many
        return changed.size

    def columns(self) -> list[Array]:
        return []

    def _rows_of(self, numbers: Array) -> list[Array]:
        columns = [kept[numbers] for kept in self._keys]
        columns.insert(self._position, self._best[numbers])
        return columns

    def best_rows(self) -> list[Array]:
        """The columns of the best row of every key."""
        return self._rows_of(np.arange(self.size))

    def rounds(self) -> NDArray[np.int32]:
        """The round in which each key got its best value, from 1 on."""
        result = np.zeros(self.size, np.int32)
        for round, improved in enumerate(self._rounds or (), 1):
            result[improved] = round
        return result

    def settled(self) -> Relation:
        """The relation with the best row of every key."""
        result = self._origin.empty()
        result.insert(self.best_rows(), self.size)
        result.next_round()
        return result

"""A relation that keeps one row a key, with the smallest or largest value: recursive MIN and MAX."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.kernels.best_values import improve
from flintlog.engines.local.storage.numbering import RowNumbering
from flintlog.engines.local.storage.packing import Array, Range
from flintlog.engines.local.storage.relation import Log, Relation


class BestRelation(Relation):
    """While its stratum runs, the log has a row for every round in which a key's value improved: the delta is what
    matters. `settled` gives the relation with just the best rows."""

    def __init__(self, relation: Relation, position: int, sign: int) -> None:
        super().__init__(relation.name, relation.arity)
        self._origin = relation
        self._position, self._sign = position, sign
        self._numbering = RowNumbering(max(1, relation.arity - 1))
        self._columns = [Log() for _ in range(relation.arity)]
        self._rows = self._numbering  # rows are columns here, never packed keys
        self._keys_of = [Log() for _ in range(relation.arity - 1)]
        self._best = np.empty(16, np.int64)
        self._state = np.zeros(16, np.uint8)
        self._changed: list[Array] = []

    def prepare(self, ranges: Sequence[Range]) -> bool:
        return False

    def insert(self, columns: Sequence[Array], size: int) -> None:
        """Improves the values of these rows' keys; what improved becomes visible in the next round."""
        if size == 0:
            return
        values = columns[self._position]
        keys = [c for i, c in enumerate(columns) if i != self._position] or [np.zeros(size, np.int64)]
        known = self._numbering.count
        numbers = self._numbering.add(keys)
        count = self._numbering.count
        if count > known:
            fresh = np.flatnonzero(numbers >= known)
            first = fresh[np.unique(numbers[fresh], return_index=True)[1]]
            for log, key in zip(self._keys_of, keys, strict=False):
                log.append(key[first])
            self._reserve(count)
        changed = np.empty(min(size, count), np.int64)
        news = improve(self._best, self._state, numbers, np.ascontiguousarray(values), self._sign, changed)
        self._changed.append(changed[:news])

    def _reserve(self, count: int) -> None:
        if count > self._best.size:
            room = count * 2
            best, state = np.empty(room, np.int64), np.zeros(room, np.uint8)
            best[: self._best.size], state[: self._state.size] = self._best, self._state
            self._best, self._state = best, state

    def next_round(self) -> int:
        changed = np.concatenate(self._changed) if self._changed else np.empty(0, np.int64)
        self._changed = []
        self._state[changed] = 1
        for log, column in zip(self._columns, self._rows_of(changed), strict=True):
            log.append(column)
        return super().next_round()

    def _rows_of(self, numbers: Array) -> list[Array]:
        columns = [log.view(0, log.size)[numbers] for log in self._keys_of]
        columns.insert(self._position, self._best[numbers])
        return columns

    def settled(self) -> Relation:
        """The relation with the best row of every key."""
        result = self._origin.empty()
        count = self._numbering.count
        result.insert(self._rows_of(np.arange(count)), count)
        result.next_round()
        return result

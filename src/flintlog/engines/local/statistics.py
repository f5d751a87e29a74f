"""Estimates, from samples of what relations hold now, of how many rows a probe will find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Rows

# Rows that are looked at: of the relation that is probed, and of the one whose values probe it.
PROBED, PROBING = 1 << 13, 1 << 9
# An estimate of nothing at all would make what follows look free.
LEAST = 0.2 / PROBING
# What is assumed of a relation that has no rows yet.
UNKNOWN_ROWS, UNKNOWN_FANOUT = 1000.0, 4.0

Place: TypeAlias = tuple[Rows, int]  # a column of a literal


class Statistics:
    """`stored` gives the relation a literal reads, None if that is not computed yet."""

    def __init__(self, stored: Callable[[Rows], Relation | None]) -> None:
        self._stored = stored
        self._keys: dict[tuple[object, tuple[int, ...]], tuple[Array, float]] = {}
        self._fanouts: dict[tuple[object, ...], float] = {}

    def forget(self) -> None:
        """Lets go of what was found out, and of the relations it was about."""
        self._keys.clear()
        self._fanouts.clear()

    def size(self, rows: Rows) -> float:
        relation = self._stored(rows)
        return float(relation.visible) if relation is not None and relation.visible else UNKNOWN_ROWS

    def fanout(self, rows: Rows, key: tuple[int, ...], binders: Sequence[Place | None]) -> float:
        """How many rows a probe of the columns `key` finds on average, if their values come from these places."""
        if not key:
            return self.size(rows)
        relation = self._stored(rows)
        if relation is None or not relation.visible:
            return UNKNOWN_FANOUT ** (len(rows.variables) > len(key))
        best: tuple[Rows | None, list[int]] = (None, [])
        for literal in {id(b[0]): b[0] for b in binders if b is not None}.values():
            covered = [i for i, b in enumerate(binders) if b is not None and b[0] is literal]
            if len(covered) > len(best[1]):
                best = literal, covered
        source_rows, covered = best
        positions = tuple(key[i] for i in covered)
        columns = tuple(binder[1] for i in covered if (binder := binders[i]) is not None)
        source = self._stored(source_rows) if source_rows is not None else None
        memo = (_now(relation), key, positions, _now(source) if source is not None else None, columns)
        if memo not in self._fanouts:
            found = self._estimate(relation, key, positions, source_rows, columns)
            self._fanouts[memo] = max(found, LEAST)
        return self._fanouts[memo]

    def _estimate(
        self,
        relation: Relation,
        key: tuple[int, ...],
        positions: tuple[int, ...],
        source_rows: Rows | None,
        columns: tuple[int, ...],
    ) -> float:
        source = self._stored(source_rows) if source_rows is not None else None
        if source is None or not source.visible:
            return relation.visible / self._distinct(relation, key)
        found = self._matches(relation, positions, source, columns)
        if positions != key:
            found *= self._distinct(relation, positions) / self._distinct(relation, key)
        return found

    def _matches(self, relation: Relation, key: tuple[int, ...], source: Relation, columns: tuple[int, ...]) -> float:
        keys, scale = self._sorted(relation, key)
        values = _one_word([source.sample(position, PROBING) for position in columns])
        matches = np.searchsorted(keys, values, side="right") - np.searchsorted(keys, values, side="left")
        return float(matches.mean()) * scale

    def presence(
        self, relation: Relation | None, columns: tuple[int, ...], other: Relation | None, key: tuple[int, ...]
    ) -> float:
        """The part of a relation's rows whose values in some columns stand in those of another, which is not large."""
        if relation is None or other is None or not relation.visible or other.visible > PROBED:
            return 1.0
        keys, _ = self._sorted(other, key)
        values = _one_word([relation.sample(position, PROBING) for position in columns])
        return float((np.searchsorted(keys, values, side="right") > np.searchsorted(keys, values, side="left")).mean())

    def _sorted(self, relation: Relation, key: tuple[int, ...]) -> tuple[Array, float]:
        place = _now(relation), key
        if place not in self._keys:
            keys = np.sort(_one_word([relation.sample(position, PROBED) for position in key]))
            self._keys[place] = keys, relation.visible / max(1, keys.size)
        return self._keys[place]

    def group_size(self, relation: Relation, key: tuple[int, ...]) -> float:
        """How many rows agree with a row in the columns `key`, itself included, on average over rows."""
        if not key or not relation.visible:
            return float(max(1, relation.visible))
        keys, scale = self._sorted(relation, key)
        ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))
        counts = np.diff(ends, prepend=-1)
        others = float((counts * (counts - 1)).sum()) / keys.size
        return 1.0 + others * scale

    def _distinct(self, relation: Relation, key: tuple[int, ...]) -> float:
        return max(1.0, relation.visible / self.group_size(relation, key))


def _now(relation: Relation) -> tuple[Relation, int]:
    """A relation of about the size it has now."""
    return relation, relation.visible.bit_length()


def _one_word(columns: Sequence[Array]) -> Array:
    """One word for each row, that differs where rows do, or nearly always."""
    result = columns[0]
    for column in columns[1:]:
        result = (result * np.int64(0x2545F4914F6CDD1D)) ^ column
    return result

"""A relation of the reference engine: a set of rows, and the meaning of inserting one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flintlog.engines.reference.closures import Machine, key_at
from flintlog.ir.program import NEW, OLD, Relation
from flintlog.types import Row, Value


class Table:
    """Rows in order of insertion. `add` and `remove` keep the indexes in step."""

    def __init__(self, relation: Relation, machine: Machine) -> None:
        self.relation = relation
        self.rows: dict[Row, None] = {}
        self._indexes: dict[tuple[int, ...], dict[Row, list[Row]]] = {}
        self._chosen: list[set[Row]] = [set() for _ in relation.choice]
        self._merged: dict[Row, Row] = {}
        self._classes: dict[Value, list[Value]] = {}
        at = {OLD: 0, NEW: 1}
        self._merge: list[Any] = [m and machine.scalar(m, at) for m in relation.merge]

    def load(self, row: Row) -> None:
        """Inserts a fact. Choices drop derived rows only; facts always stay, and count as chosen."""
        if not self.relation.choice:
            self.add(row)
        elif row not in self.rows:
            self._insert(row)
            for key, chosen in zip(self._choice_keys(row), self._chosen, strict=True):
                chosen.add(key)

    def add(self, row: Row) -> list[Row]:
        """Inserts a derived row; returns the rows that the relation gains by it."""
        if self.relation.representation == "eqrel":
            return self._unite(row[0], row[1])
        if self._merge:
            return self._combine(row)
        if row in self.rows or not self._choose(row):
            return []
        self._insert(row)
        return [row]

    def remove(self, row: Row) -> None:
        del self.rows[row]
        for positions, index in self._indexes.items():
            index[key_at(positions)(row)].remove(row)

    def index(self, positions: tuple[int, ...]) -> dict[Row, list[Row]]:
        """The rows by their values at these positions."""
        index = self._indexes.get(positions)
        if index is None:
            index = self._indexes[positions] = group(self.rows, positions)
        return index

    def _insert(self, row: Row) -> None:
        self.rows[row] = None
        for positions, index in self._indexes.items():
            index.setdefault(key_at(positions)(row), []).append(row)

    def _choice_keys(self, row: Row) -> list[Row]:
        return [tuple(row[p] for p in positions) for positions in self.relation.choice]

    def _choose(self, row: Row) -> bool:
        keys = list(zip(self._choice_keys(row), self._chosen, strict=True))
        if any(key in chosen for key, chosen in keys):
            return False
        for key, chosen in keys:
            chosen.add(key)
        return True

    def _combine(self, row: Row) -> list[Row]:
        key = tuple(row[p] for p in self.relation.key)
        old = self._merged.get(key)
        if old is not None:
            both = zip(self._merge, old, row, strict=True)
            row = tuple(merge((a, b)) if merge else a for merge, a, b in both)
            if row == old:
                return []
            self.remove(old)
        self._merged[key] = row
        self._insert(row)
        return [row]

    def _unite(self, a: Value, b: Value) -> list[Row]:
        """Joins the classes of two values; every pair across them is new."""
        added: list[Row] = []
        for value in (a, b):
            if value not in self._classes:
                self._classes[value] = [value]
                added.append((value, value))
        left, right = self._classes[a], self._classes[b]
        if left is not right:
            added += [pair for x in left for y in right for pair in ((x, y), (y, x))]
            left += right
            for value in right:
                self._classes[value] = left
        for pair in added:
            self._insert(pair)
        return added


def group(rows: Iterable[Row], positions: tuple[int, ...]) -> dict[Row, list[Row]]:
    key = key_at(positions)
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups

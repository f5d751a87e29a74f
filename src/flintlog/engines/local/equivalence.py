"""Relations that are equivalences: their rows are all pairs, and what a round's rows imply is added when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.numbering import Numbering
from flintlog.engines.local.storage.packing import Array, range_of
from flintlog.engines.local.storage.relation import Relation

# Rows that are taken into classes at a time.
ROWS = 1 << 18
# Pairs that are made before they are inserted: enough to be worth a call, few beside a relation that is large.
PAIRS = 1 << 18


class Equivalence:
    """The classes of a relation's values, as far as its rows were taken into them. Work is in proportion to the rows
    that are new, those it adds included; classes that stay as they are are not looked at."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._taken = 0  # rows of the relation
        self._classes = Classes()

    def complete(self, tick: Callable[[], None] = lambda: None) -> None:
        """Adds the rows that make the relation reflexive, symmetric and transitive again. `tick` is called when there
        is progress."""
        relation = self._relation
        if relation.size == self._taken:
            return
        known, lost = self._classes.count, [np.empty(0, np.int64)]
        for start in range(self._taken, relation.size, ROWS):
            end = min(relation.size, start + ROWS)
            lost.append(self._classes.unite(relation.column(0, start, end), relation.column(1, start, end)))
        merged = self._classes.merge(known, np.concatenate(lost))
        if merged.values.size:
            span = range_of(merged.values)
            relation.prepare([span, span])
            relation.reserve(merged.count)
        for left, right in merged.pairs():
            relation.insert([left, right], left.size)
            tick()
        self._taken = relation.size


class Classes:
    """Disjoint sets of values."""

    def __init__(self) -> None:
        self._numbering = Numbering()
        self._values = self._parents = self._sizes = self._ring = np.empty(0, np.int64)

    @property
    def count(self) -> int:
        """How many values there are."""
        return self._numbering.count

    def unite(self, left: Array, right: Array) -> Array:
        """Makes one class of the classes of each pair of values, new values among them; returns the roots of classes
        that went into others. `merge` must follow before anybody asks for members."""
        a, b = self._number(left), self._number(right)
        lost = np.empty(a.size, np.int64)
        found = kernels().unite(
            address(self._parents), address(self._sizes), address(a), address(b), a.size, address(lost)
        )
        return lost[:found].copy()

    def _number(self, values: Array) -> Array:
        known = self.count
        numbers = self._numbering.add(values)
        if self.count > known:
            self._reserve(self.count)
            self._values[numbers] = values  # the same again for a number that is known
        return numbers

    def _reserve(self, count: int) -> None:
        have = self._values.size
        if count > have:
            more = np.arange(have, 2 * count)
            self._values = np.concatenate([self._values, more])
            self._parents = np.concatenate([self._parents, more])
            self._ring = np.concatenate([self._ring, more])
            self._sizes = np.concatenate([self._sizes, np.ones(more.size, np.int64)])

    def merge(self, known: int, lost: Array) -> Merged:
        """Joins the rings of classes that were united: `lost` are the roots of those that went into others, and the
        values numbered from `known` on are new."""
        before = np.unique(np.concatenate([lost, self._roots(lost), np.arange(known, self.count)]))
        roots = self._roots(before)
        order = np.argsort(roots, kind="stable")
        before, roots = before[order], roots[order]
        first = np.flatnonzero(np.diff(roots, prepend=-1))  # where the parts of the next class begin
        sizes = self._sizes[roots[first]]
        members, starts = np.empty(int(sizes.sum()), np.int64), np.empty(before.size + 1, np.int64)
        kernels().list_members(address(self._ring), address(before), before.size, address(members), address(starts))
        begin = starts[first]
        self._ring[members[:-1]] = members[1:]
        self._ring[members[begin + sizes - 1]] = members[begin]
        parts = np.diff(first, append=before.size)
        begin, end = np.repeat(begin, parts), np.repeat(begin + sizes, parts)
        is_old = before < known  # a new value has no pair yet, not even with itself
        spans = np.stack(
            [begin, np.where(is_old, starts[:-1], begin), np.where(is_old, starts[1:], begin), end], axis=1
        )
        return Merged(self._values[members], np.repeat(spans, np.diff(starts), axis=0))

    def _roots(self, numbers: Array) -> Array:
        roots = self._parents[numbers]
        while True:
            above = self._parents[roots]
            if np.array_equal(above, roots):
                return roots
            roots = above


@dataclass(frozen=True)
class Merged:
    """Values class by class, of classes that have grown. A value's span is where its class begins, where the part of
    it begins and ends that it was together with before, and where its class ends."""

    values: Array
    spans: Array

    @property
    def _partners(self) -> Array:
        """How many others each value is together with from now on."""
        begin, old_begin, old_end, end = self.spans.T
        partners: Array = (old_begin - begin) + (end - old_end)
        return partners

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return int(self._partners.sum())

    def pairs(self) -> Iterator[tuple[Array, Array]]:
        """The pairs of values that were not together, in both directions, some at a time."""
        ends = np.cumsum(self._partners)
        place = done = 0
        while place < ends.size:
            stop = max(place + 1, int(np.searchsorted(ends, done + PAIRS, side="right")))
            size = int(ends[stop - 1]) - done
            left, right = np.empty(size, np.int64), np.empty(size, np.int64)
            kernels().pair_members(
                address(self.values), address(self.spans), place, stop, address(left), address(right)
            )
            yield left, right
            place, done = stop, done + size

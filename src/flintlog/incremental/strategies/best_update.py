"""The update of a stratum that keeps the best value of each key (see `best_rules`).

The round of a row is its level here: a row has a derivation from a row of a lower level, or from no row of its own
relation. First, rows that have lost all such derivations go, the lowest level first. Then the update searches other
values for the keys of these rows, and follows improved values until nothing improves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.queries.best import Best
from flintlog.incremental.rows.chosen_rows import ChosenRows
from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.instances import Found
from flintlog.incremental.strategies.rule_update import (
    ClauseUpdate,
    Difference,
    Rows,
    RuleUpdate,
    Tick,
    all_instances,
    no_tick,
)

# Columns of rows, and the level of each.
Candidates = tuple[list[Array], Array]


class BestUpdate(RuleUpdate):
    """`by_key` finds all rows that have one of given keys."""

    def __init__(
        self,
        relations: Mapping[str, MaintainedRelation],
        best: Best,
        by_key: Lookup,
        clauses: Iterable[ClauseUpdate],
        tick: Tick = no_tick,
    ) -> None:
        super().__init__(relations, (best.relation,), clauses, tick)
        self._best, self._by_key, self._rows = best, by_key, relations[best.relation]
        self._rounds = self._rows.rounds

    def run(self, difference: Difference) -> None:
        gone = self._remove(difference)
        candidates = [*self._others_of(gone), *self._facts(difference.gained)]
        candidates += self._following(difference.gained, difference.lost)
        candidates += [self._candidates(clause, found) for clause, found in all_instances(difference.rules_gained)]
        while candidates:
            improved = self._improve(candidates)
            candidates = list(self._following({self._best.relation: improved}, {})) if improved.size else []

    def unfounded(self) -> str:
        """A problem with the levels of rows, in words; empty if each row has a derivation from lower levels."""
        rows = self._unsupported(self._rounds.present())
        return f"{rows.size} rows have no derivation from lower levels" if rows.size else ""

    # --- What goes --------------------------------------------------------------------------------

    def _remove(self, difference: Difference) -> Array:
        """Deletes the rows without a derivation from lower levels; returns them."""
        doubted: dict[int, list[Array]] = defaultdict(list)
        below = {name: rows for name, rows in difference.lost.items() if name != self._best.relation}
        self._doubt(difference.lost.get(self._best.relation, np.empty(0, np.int64)), doubted)
        for clause, found in chain(self._touched(below, difference.gained), all_instances(difference.rules_lost)):
            self._doubt(self._heads(clause, found), doubted)
        gone: list[Array] = []
        while doubted:
            level = min(doubted)
            rows = self._unsupported(np.unique(np.concatenate(doubted.pop(level))))
            if rows.size:
                self._rounds.set_round(rows, NEVER)
                gone.append(rows)
                for clause, found in self._touched({self._best.relation: rows}, {}):
                    heads = self._heads(clause, found)
                    self._doubt(heads[self._rounds.new[heads] > level], doubted)
        return np.concatenate(gone) if gone else np.empty(0, np.int64)

    def _doubt(self, rows: Array, doubted: dict[int, list[Array]]) -> None:
        levels = self._rounds.new[rows]
        for level in np.unique(levels[levels != NEVER]).tolist():
            doubted[level].append(rows[levels == level])

    def _heads(self, clause: ClauseUpdate, found: Found) -> Array:
        """The best rows that instances gave before the update."""
        self._tick(found.size)
        found, _ = clause.rounds.holding(found, "old")
        heads = self._rows.find(found.head, found.size)
        return heads[heads >= 0]

    def _unsupported(self, rows: Array) -> Array:
        """Of sorted rows those that hold, and have no derivation from below their own level."""
        rows = rows[(self._rounds.new[rows] != NEVER) & ~self._rounds.given[rows]]
        supported = np.zeros(rows.size, np.bool_)
        for clause in self._clauses:
            if not rows.size:
                break
            for found in clause.instances.of_head(ChosenRows(self._rows, rows)):
                self._tick(found.size)
                heads = self._rows.find(found.head, found.size)
                holds = heads[clause.rounds.latest(found, "new") < self._rounds.new[heads]]
                supported[np.searchsorted(rows, holds)] = True
        return rows[~supported]

    # --- What comes -------------------------------------------------------------------------------

    def _others_of(self, rows: Array) -> Iterator[Candidates]:
        """All rows, by facts and rules, that have the keys of `rows`."""
        if not rows.size:
            return
        chosen = ChosenRows(self._rows, rows)
        keys = self._keys(chosen.columns)
        known = self._by_key.positions(keys)
        known = known[self._rounds.given[known]]
        yield self._rows.columns(known), np.zeros(known.size, np.int64)
        for clause in self._clauses:
            for found in clause.instances.like_head(chosen, but=self._best.position):
                yield self._candidates(clause, found)

    def _facts(self, gained: Rows) -> Iterator[Candidates]:
        rows = gained.get(self._best.relation)
        if rows is not None:
            yield self._rows.columns(rows), np.zeros(rows.size, np.int64)

    def _following(self, rows: Rows, absent: Rows) -> Iterator[Candidates]:
        return (self._candidates(clause, found) for clause, found in self._touched(rows, absent))

    def _candidates(self, clause: ClauseUpdate, found: Found) -> Candidates:
        self._tick(found.size)
        found, latest = clause.rounds.holding(found, "new")
        return found.head, latest.astype(np.int64) + 1

    def _improve(self, candidates: Sequence[Candidates]) -> Array:
        """Replaces the rows of keys for which a candidate is better; returns the new rows."""
        columns = [np.concatenate(parts) for parts in zip(*(columns for columns, _ in candidates), strict=True)]
        levels = np.concatenate([levels for _, levels in candidates])
        if not levels.size:
            return levels
        columns, levels = self._best_of(columns, levels)
        rows = self._rows.enter(columns, levels.size)
        before = self._by_key.positions(self._keys(columns))
        before = before[self._rounds.new[before] != NEVER]
        is_new = self._best_among(rows, before)
        chosen = rows[is_new]
        replaced = self._by_key.positions(self._keys(self._rows.columns(chosen))) if chosen.size else chosen
        self._rounds.set_round(replaced[self._rounds.new[replaced] != NEVER], NEVER)
        self._rounds.set_round(chosen, levels[is_new].astype(np.int32))
        return chosen

    def _best_of(self, columns: list[Array], levels: Array) -> tuple[list[Array], Array]:
        """The best candidate of each key, with its lowest level."""
        keys, value = self._keys(columns), self._ordered(columns)
        chosen = _first_of_each(keys, np.lexsort((levels, value, *keys[::-1])))
        return [np.ascontiguousarray(column[chosen]) for column in columns], levels[chosen]

    def _best_among(self, rows: Array, before: Array) -> NDArray[np.bool_]:
        """Which of `rows`, one of each key, are better than the rows `before` of the same keys."""
        both = np.concatenate((rows, before))
        columns = self._rows.columns(both)
        keys, value = self._keys(columns), self._ordered(columns)
        is_before = np.arange(both.size) >= rows.size
        wins = np.zeros(both.size, np.bool_)
        # Of equal values, the former one comes first.
        wins[_first_of_each(keys, np.lexsort((~is_before, value, *keys[::-1])))] = True
        return wins[: rows.size]

    def _ordered(self, columns: Sequence[Array]) -> Array:
        """The values, so that the best is the smallest. (The smallest number has a complement, but no negative.)"""
        value = columns[self._best.position]
        return value if self._best.sign > 0 else ~value

    def _keys(self, columns: Sequence[Array]) -> list[Array]:
        return [column for position, column in enumerate(columns) if position != self._best.position]


def _first_of_each(keys: Sequence[Array], order: Array) -> Array:
    """Of rows in an order in which equal keys are neighbours, the first of each key."""
    first = np.zeros(order.size, np.bool_)
    first[:1] = True
    for key in keys:
        ordered = key[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    return order[first]

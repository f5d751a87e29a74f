"""The update of a stratum that keeps the best value of each key (see `best_rules`).

Rounds of rows are levels here: every row has a derivation from a row of a lower level, or from none of its relation.
Rows that lose all of these go, lowest first; what else gives their keys a value is then looked for, and improved values
are followed until none improves any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.best import Best
from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.instances import Found
from flintlog.incremental.kept import NEVER, Kept
from flintlog.incremental.lookup import Lookup
from flintlog.incremental.update import ClauseUpdate

Rows = Mapping[str, Array]
# Columns of rows, and the level of each.
Candidates = tuple[list[Array], Array]


class BestUpdate:
    """Takes what `StratumUpdate` takes; `by_key` finds the rows of keys."""

    def __init__(
        self,
        kept: Mapping[str, Kept],
        best: Best,
        by_key: Lookup,
        clauses: Iterable[ClauseUpdate],
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._best, self._by_key, self._clauses, self._tick = best, by_key, list(clauses), tick
        self._kept = kept[best.relation]

    def run(
        self,
        lost: Rows,
        gained: Rows,
        rules_lost: Iterable[ClauseUpdate] = (),
        rules_gained: Iterable[ClauseUpdate] = (),
    ) -> None:
        gone = self._remove(lost, gained, rules_lost)
        candidates = [*self._others_of(gone), *self._facts(gained)]
        candidates += self._following(gained, lost)
        candidates += [self._candidates(clause, found) for clause in rules_gained for found in clause.instances.all()]
        while candidates:
            improved = self._improve(candidates)
            candidates = list(self._following({self._best.relation: improved}, {})) if improved.size else []

    def unfounded(self) -> str:
        """What is wrong with the levels of rows; empty if each row has its support."""
        rows = self._unsupported(self._kept.present())
        return f"{rows.size} rows have no derivation from lower levels" if rows.size else ""

    # --- What goes --------------------------------------------------------------------------------

    def _remove(self, lost: Rows, gained: Rows, rules_lost: Iterable[ClauseUpdate]) -> Array:
        """Takes away the rows that nothing supports any more; returns them."""
        doubted: dict[int, list[Array]] = defaultdict(list)
        self._doubt(lost.get(self._best.relation, np.empty(0, np.int64)), doubted)
        for clause in self._clauses:
            for place, where in enumerate(clause.instances.clause.places):
                some = (gained if where.negated else lost).get(where.relation)
                if some is not None and some.size and not where.own:
                    for found in clause.instances.at_place(place, some):
                        self._doubt(self._heads(clause, found), doubted)
        for clause in rules_lost:
            for found in clause.instances.all():
                self._doubt(self._heads(clause, found), doubted)
        gone: list[Array] = []
        while doubted:
            level = min(doubted)
            rows = self._unsupported(np.unique(np.concatenate(doubted.pop(level))))
            if rows.size:
                self._kept.set_round(rows, NEVER)
                gone.append(rows)
                for heads in self._made_of(rows):
                    self._doubt(heads[self._kept.new[heads] > level], doubted)
        return np.concatenate(gone) if gone else np.empty(0, np.int64)

    def _doubt(self, rows: Array, doubted: dict[int, list[Array]]) -> None:
        levels = self._kept.new[rows]
        for level in np.unique(levels[levels != NEVER]).tolist():
            doubted[level].append(rows[levels == level])

    def _heads(self, clause: ClauseUpdate, found: Found) -> Array:
        """The rows that instances of the epoch before gave, of those that are best."""
        self._tick()
        found = found.chosen(clause.rounds.latest(clause.rounds.places(found.rows, found.size, "old")) != NEVER)
        heads = self._kept.find(found.head, found.size)
        return heads[heads >= 0]

    def _made_of(self, rows: Array) -> Iterator[Array]:
        for clause in self._clauses:
            for place, where in enumerate(clause.instances.clause.places):
                if where.own:
                    for found in clause.instances.at_place(place, rows):
                        yield self._heads(clause, found)

    def _unsupported(self, rows: Array) -> Array:
        """Those of some rows, sorted, that are there and have no derivation from below their own level."""
        rows = rows[(self._kept.new[rows] != NEVER) & ~self._kept.given[rows]]
        supported = np.zeros(rows.size, np.bool_)
        for clause in self._clauses:
            if not rows.size:
                break
            for found in clause.instances.of_head(rows):
                self._tick()
                heads = self._kept.find(found.head, found.size)
                latest = clause.rounds.latest(clause.rounds.places(found.rows, found.size, "new"))
                holds = heads[latest < self._kept.new[heads]]
                supported[np.searchsorted(rows, holds)] = True
        return rows[~supported]

    # --- What comes -------------------------------------------------------------------------------

    def _others_of(self, rows: Array) -> Iterator[Candidates]:
        """All that the keys of some rows can be now."""
        if not rows.size:
            return
        keys = self._keys(self._kept.columns(rows))
        known = self._by_key.places(keys)
        known = known[self._kept.given[known]]
        yield self._kept.columns(known), np.zeros(known.size, np.int64)
        for clause in self._clauses:
            for found in clause.instances.of_head(rows, but=self._best.position):
                yield self._candidates(clause, found)

    def _facts(self, gained: Rows) -> Iterator[Candidates]:
        rows = gained.get(self._best.relation)
        if rows is not None:
            yield self._kept.columns(rows), np.zeros(rows.size, np.int64)

    def _following(self, rows: Rows, absent: Rows) -> Iterator[Candidates]:
        for clause in self._clauses:
            for place, where in enumerate(clause.instances.clause.places):
                some = (absent if where.negated else rows).get(where.relation)
                if some is not None and some.size:
                    for found in clause.instances.at_place(place, some):
                        yield self._candidates(clause, found)

    def _candidates(self, clause: ClauseUpdate, found: Found) -> Candidates:
        self._tick()
        latest = clause.rounds.latest(clause.rounds.places(found.rows, found.size, "new"))
        found = found.chosen(latest != NEVER)
        return found.head, latest[latest != NEVER].astype(np.int64) + 1

    def _improve(self, candidates: Sequence[Candidates]) -> Array:
        """Gives keys better values, where there are some; returns the rows that are new."""
        columns = [np.concatenate(parts) for parts in zip(*(columns for columns, _ in candidates), strict=True)]
        levels = np.concatenate([levels for _, levels in candidates])
        if not levels.size:
            return levels
        columns, levels = self._best_of(columns, levels)
        rows = self._kept.enter(columns, levels.size)
        before = self._by_key.places(self._keys(columns))
        before = before[self._kept.new[before] != NEVER]
        is_new = self._best_among(rows, before)
        chosen = rows[is_new]
        replaced = self._by_key.places(self._keys(self._kept.columns(chosen))) if chosen.size else chosen
        self._kept.set_round(replaced[self._kept.new[replaced] != NEVER], NEVER)
        self._kept.set_round(chosen, levels[is_new].astype(np.int32))
        return chosen

    def _best_of(self, columns: list[Array], levels: Array) -> tuple[list[Array], Array]:
        """The best row of each key, with the lowest level at which it comes."""
        keys, value = self._keys(columns), self._ordered(columns)
        order = np.lexsort((levels, value, *keys[::-1]))
        first = np.ones(order.size, np.bool_)
        first[1:] = _differ([key[order] for key in keys], order.size)
        chosen = order[first]
        return [np.ascontiguousarray(column[chosen]) for column in columns], levels[chosen]

    def _best_among(self, rows: Array, before: Array) -> NDArray[np.bool_]:
        """Which rows, one of each key, are better than those that keys have now."""
        places = np.concatenate((rows, before))
        columns = self._kept.columns(places)
        keys, value = self._keys(columns), self._ordered(columns)
        is_before = np.arange(places.size) >= rows.size
        order = np.lexsort((~is_before, value, *keys[::-1]))  # of equal values, that which a key has comes first
        first = np.ones(order.size, np.bool_)
        first[1:] = _differ([key[order] for key in keys], order.size)
        wins = np.zeros(places.size, np.bool_)
        wins[order[first]] = True
        return wins[: rows.size]

    def _ordered(self, columns: Sequence[Array]) -> Array:
        """The values, so that the best is the smallest. The complement has no number that it cannot turn round."""
        value = columns[self._best.position]
        return value if self._best.sign > 0 else ~value

    def _keys(self, columns: Sequence[Array]) -> list[Array]:
        return [column for position, column in enumerate(columns) if position != self._best.position]


def _differ(keys: Sequence[Array], size: int) -> NDArray[np.bool_]:
    """For each row but the first, whether its key is another than that of the row before it."""
    result = np.zeros(max(0, size - 1), np.bool_)
    for key in keys:
        result |= key[1:] != key[:-1]
    return result

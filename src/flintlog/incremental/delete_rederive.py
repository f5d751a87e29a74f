"""The update of one stratum by deleting too much and putting back what is still derived (DRed).

Keeps rows only: which round they come in is not known afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.instances import Found
from flintlog.incremental.kept import NEVER, Kept
from flintlog.incremental.update import ClauseUpdate

Rows = Mapping[str, Array]
Heads = tuple[str, Array]


class DeleteRederive:
    """Takes what `StratumUpdate` takes."""

    def __init__(
        self,
        kept: Mapping[str, Kept],
        own: Iterable[str],
        clauses: Iterable[ClauseUpdate],
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._kept, self._own, self._clauses, self._tick = kept, tuple(own), list(clauses), tick

    def run(
        self,
        lost: Rows,
        gained: Rows,
        rules_lost: Iterable[ClauseUpdate] = (),
        rules_gained: Iterable[ClauseUpdate] = (),
    ) -> None:
        deleted = self._delete(lost, gained, rules_lost)
        self._derive(deleted, lost, gained, rules_gained)

    def _delete(self, lost: Rows, gained: Rows, rules_lost: Iterable[ClauseUpdate]) -> dict[str, Array]:
        """Takes away all that anything lost had a part in; returns what it took."""
        taken: dict[str, list[Array]] = defaultdict(list)
        for name in self._own:
            if name in lost:
                self._kept[name].set_round(lost[name], NEVER)
                taken[name].append(lost[name])
        heads: Iterator[Heads] = chain(self._following(lost, gained, "old"), self._all_heads(rules_lost, "old"))
        while frontier := self._gone(heads):
            for name, rows in frontier.items():
                taken[name].append(rows)
            heads = self._following(frontier, {}, "old")
        return {name: np.unique(np.concatenate(parts)) for name, parts in taken.items()}

    def _gone(self, heads: Iterable[Heads]) -> dict[str, Array]:
        gone: dict[str, list[Array]] = defaultdict(list)
        for name, rows in heads:
            kept = self._kept[name]
            rows = np.unique(rows[(kept.new[rows] != NEVER) & ~kept.given[rows]])
            if rows.size:
                kept.set_round(rows, NEVER)
                gone[name].append(rows)
        return {name: np.concatenate(parts) for name, parts in gone.items()}

    def _derive(self, deleted: Rows, lost: Rows, gained: Rows, rules_gained: Iterable[ClauseUpdate]) -> None:
        """Puts back what is still derived, and adds what is new."""
        for name in self._own:
            if name in gained:
                self._kept[name].set_round(gained[name], 0)
        heads: Iterator[Heads] = chain(
            self._derived_again(deleted), self._following(gained, lost, "new"), self._all_heads(rules_gained, "new")
        )
        while frontier := self._come(heads):
            heads = self._following(frontier, {}, "new")

    def _come(self, heads: Iterable[Heads]) -> dict[str, Array]:
        come: dict[str, list[Array]] = defaultdict(list)
        for name, rows in heads:
            kept = self._kept[name]
            rows = np.unique(rows[kept.new[rows] == NEVER])
            if rows.size:
                kept.set_round(rows, 1)
                come[name].append(rows)
        return {name: np.concatenate(parts) for name, parts in come.items()}

    # --- Instances --------------------------------------------------------------------------------

    def _following(self, rows: Rows, absent: Rows, epoch: str) -> Iterator[Heads]:
        """What follows in an epoch from one of these rows, or from the absence of one of those."""
        for clause in self._clauses:
            for place, where in enumerate(clause.instances.clause.places):
                some = (absent if where.negated else rows).get(where.relation)
                if some is not None and some.size:
                    for found in clause.instances.at_place(place, some):
                        yield self._heads(clause, found, epoch)

    def _derived_again(self, deleted: Rows) -> Iterator[Heads]:
        for clause in self._clauses:
            if clause.relation in deleted:
                for found in clause.instances.of_head(deleted[clause.relation]):
                    yield self._heads(clause, found, "new")

    def _all_heads(self, clauses: Iterable[ClauseUpdate], epoch: str) -> Iterator[Heads]:
        for clause in clauses:
            for found in clause.instances.all():
                yield self._heads(clause, found, epoch)

    def _heads(self, clause: ClauseUpdate, found: Found, epoch: str) -> Heads:
        """What instances give, of those that hold in an epoch."""
        self._tick()
        found = found.chosen(clause.rounds.latest(clause.rounds.places(found.rows, found.size, epoch)) != NEVER)
        return clause.relation, self._kept[clause.relation].enter(found.head, found.size)

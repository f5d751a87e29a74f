"""The update of one stratum by deleting too much and putting back what is still derived (DRed).

Keeps rows only: which round they come in is not known afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.instance_rounds import Version
from flintlog.incremental.rules.instances import Found
from flintlog.incremental.strategies.rule_update import ClauseUpdate, Difference, Rows, RuleUpdate

Heads = tuple[str, Array]


class DeleteRederive(RuleUpdate):
    def run(self, difference: Difference) -> None:
        self._derive(difference, self._delete(difference))

    def _delete(self, difference: Difference) -> dict[str, Array]:
        """Takes away all that anything lost had a part in; returns what it took."""
        taken: dict[str, list[Array]] = defaultdict(list)
        lost = difference.lost
        for name in self._own:
            if name in lost:
                self._kept[name].rounds.set_round(lost[name], NEVER)
                taken[name].append(lost[name])
        heads: Iterator[Heads] = chain(
            self._following(lost, difference.gained, "old"), self._all_heads(difference.rules_lost, "old")
        )
        while frontier := self._gone(heads):
            for name, rows in frontier.items():
                taken[name].append(rows)
            heads = self._following(frontier, {}, "old")
        return {name: np.unique(np.concatenate(parts)) for name, parts in taken.items()}

    def _gone(self, heads: Iterable[Heads]) -> dict[str, Array]:
        gone: dict[str, list[Array]] = defaultdict(list)
        for name, rows in heads:
            kept = self._kept[name]
            rows = np.unique(rows[(kept.rounds.new[rows] != NEVER) & ~kept.rounds.given[rows]])
            if rows.size:
                kept.rounds.set_round(rows, NEVER)
                gone[name].append(rows)
        return {name: np.concatenate(parts) for name, parts in gone.items()}

    def _derive(self, difference: Difference, deleted: Rows) -> None:
        """Puts back what is still derived, and adds what is new."""
        gained = difference.gained
        for name in self._own:
            if name in gained:
                self._kept[name].rounds.set_round(gained[name], 0)
        heads: Iterator[Heads] = chain(
            self._derived_again(deleted),
            self._following(gained, difference.lost, "new"),
            self._all_heads(difference.rules_gained, "new"),
        )
        while frontier := self._come(heads):
            heads = self._following(frontier, {}, "new")

    def _come(self, heads: Iterable[Heads]) -> dict[str, Array]:
        come: dict[str, list[Array]] = defaultdict(list)
        for name, rows in heads:
            kept = self._kept[name]
            rows = np.unique(rows[kept.rounds.new[rows] == NEVER])
            if rows.size:
                kept.rounds.set_round(rows, 1)
                come[name].append(rows)
        return {name: np.concatenate(parts) for name, parts in come.items()}

    # --- Instances --------------------------------------------------------------------------------

    def _following(self, rows: Rows, absent: Rows, epoch: Version) -> Iterator[Heads]:
        """What follows in an epoch from one of these rows, or from the absence of one of those."""
        for clause, some in groupby(self._touched(rows, absent), itemgetter(0)):
            yield from self._heads_of(clause, map(itemgetter(1), some), epoch)

    def _derived_again(self, deleted: Rows) -> Iterator[Heads]:
        chosen = self._chosen(deleted)
        for clause in self._clauses:
            if clause.relation in chosen:
                yield from self._heads_of(clause, clause.instances.of_head(chosen[clause.relation]), "new")

    def _all_heads(self, clauses: Iterable[ClauseUpdate], epoch: Version) -> Iterator[Heads]:
        for clause in clauses:
            yield from self._heads_of(clause, clause.instances.all(), epoch)

    def _heads_of(self, clause: ClauseUpdate, instances: Iterable[Found], epoch: Version) -> Iterator[Heads]:
        """All are found first: to enter their heads may change what is searched."""
        return (self._heads(clause, found, epoch) for found in list(instances))

    def _heads(self, clause: ClauseUpdate, found: Found, epoch: Version) -> Heads:
        """What instances give, of those that hold in an epoch."""
        self._tick(found.size)
        found, _ = clause.rounds.holding(found, epoch)
        return clause.relation, self._kept[clause.relation].enter(found.head, found.size)

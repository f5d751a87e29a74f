"""The update of one stratum by deleting too many rows and putting those back that are still derived (DRed).

The rounds of rows are not known afterwards.
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
        """Deletes all rows with a derivation from a lost row, or from another deleted one; returns them."""
        taken: dict[str, list[Array]] = defaultdict(list)
        lost = difference.lost
        for name in self._own:
            if name in lost:
                self._relations[name].rounds.set_round(lost[name], NEVER)
                taken[name].append(lost[name])
        heads: Iterator[Heads] = chain(
            self._following(lost, difference.gained, "old"), self._all_heads(difference.rules_lost, "old")
        )
        while frontier := self._changed(heads, NEVER):
            for name, rows in frontier.items():
                taken[name].append(rows)
            heads = self._following(frontier, {}, "old")
        return {name: np.unique(np.concatenate(parts)) for name, parts in taken.items()}

    def _changed(self, heads: Iterable[Heads], round: int) -> dict[str, Array]:
        """Deletes heads that hold and are no facts, if the round is NEVER; otherwise puts heads that do not hold into
        the round. Returns the rows that have changed."""
        changed: dict[str, list[Array]] = defaultdict(list)
        for name, rows in heads:
            rounds = self._relations[name].rounds
            holds = rounds.new[rows] != NEVER
            rows = np.unique(rows[holds & ~rounds.given[rows] if round == NEVER else ~holds])
            if rows.size:
                rounds.set_round(rows, round)
                changed[name].append(rows)
        return {name: np.concatenate(parts) for name, parts in changed.items()}

    def _derive(self, difference: Difference, deleted: Rows) -> None:
        """Puts deleted rows back that are still derived, and adds new rows."""
        gained = difference.gained
        for name in self._own:
            if name in gained:
                self._relations[name].rounds.set_round(gained[name], 0)
        heads: Iterator[Heads] = chain(
            self._derived_again(deleted),
            self._following(gained, difference.lost, "new"),
            self._all_heads(difference.rules_gained, "new"),
        )
        while frontier := self._changed(heads, 1):
            heads = self._following(frontier, {}, "new")

    # --- Instances --------------------------------------------------------------------------------

    def _following(self, rows: Rows, absent: Rows, epoch: Version) -> Iterator[Heads]:
        """The heads of instances that have one of `rows`, or a negated literal for one of `absent`."""
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
        """The heads of instances. All are found first: entering heads may change a log that is being searched."""
        return (self._heads(clause, found, epoch) for found in list(instances))

    def _heads(self, clause: ClauseUpdate, found: Found, epoch: Version) -> Heads:
        """The heads of the instances that come before the update, or after it."""
        self._tick(found.size)
        found, _ = clause.rounds.holding(found, epoch)
        return clause.relation, self._relations[clause.relation].enter(found.head, found.size)

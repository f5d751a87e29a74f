"""The update of one stratum kept by its rules (paper 004, algorithm 3), with work in proportion to what changes.

A row comes in the round after the last row that one of its derivations needs; only derivations of that first round
count. An update changes the rounds of some rows: they come earlier, later, not at all, or for the first time. Rounds
are gone through in order, and a row's new round is settled when its old or new one is reached. When that is another,
the instances of rules that have the row are found, once, and put off to the round in which they would have their
effect:

- *removed*: an instance that counted in the old epoch, of a row that is late. It is taken off the count of its head if
  one of its rows is still not there by then.
- *added*: an instance with a row that has come, in a round of its own. It counts in its round if nothing that it has
  changed afterwards; otherwise what changed later has put it off, too.
- *again*: an instance whose head is late, without any changed row: a derivation that came too late to count before.

Where the paper looks at every instance of a deleted row in each later round, this does so once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.instances import Found
from flintlog.incremental.kept import NEVER, UNKNOWN, ChosenRows
from flintlog.incremental.rule_update import ClauseUpdate, Difference, Rows, RuleUpdate, all_instances

REMOVED, ADDED, AGAIN = "removed", "added", "again"


@dataclass
class _Waiting:
    """Instances that will have their effect in some round: `place` is where the changed row stands."""

    kind: str
    clause: ClauseUpdate
    place: int
    rows: list[Array]
    heads: Array


class StratumUpdate(RuleUpdate):
    """Keeps rounds, and counts of the rows that have lost derivations."""

    def run(self, difference: Difference) -> None:
        self._waiting: dict[int, list[_Waiting]] = defaultdict(list)
        late, come = dict(difference.lost), dict(difference.gained)
        for name in self._own:
            if name in late:
                self._kept[name].set_round(late[name], NEVER)
            if name in come:
                self._kept[name].set_round(come[name], 0)
                self._kept[name].set_counts(come[name], np.ones(come[name].size, np.int64))
        self._spread(0, late, come)
        for clause, found in all_instances(difference.rules_lost):
            self._put_off_removed(clause, len(clause.instances.clause.places), found)
        for clause, found in all_instances(difference.rules_gained):
            self._put_off_added(0, clause, len(clause.instances.clause.places), found)
        while self._waiting:
            round = min(self._waiting)
            self._round(round, self._waiting.pop(round))

    # --- A round ----------------------------------------------------------------------------------

    def _round(self, round: int, waiting: list[_Waiting]) -> None:
        more: dict[str, list[Array]] = defaultdict(list)
        less: dict[str, list[Array]] = defaultdict(list)
        for some in waiting:
            heads = some.heads[self._counts(round, some)]
            if heads.size:
                (less if some.kind == REMOVED else more)[some.clause.relation].append(heads)
        late: dict[str, Array] = {}
        come: dict[str, Array] = {}
        for name in self._own:
            if name in more or name in less:
                self._settle(round, name, _joined(more[name]), _joined(less[name]), late, come)
        self._spread(round, late, come)

    def _counts(self, round: int, some: _Waiting) -> Any:
        """Which instances have their effect in this round."""
        rounds, kept = some.clause.rounds, self._kept[some.clause.relation]
        new = rounds.places(some.rows, some.heads.size, "new")
        place = some.place
        if some.kind == REMOVED:
            valid = new[place] >= round
            for other in new[:place]:
                valid &= other < round  # the first that is late speaks for all
            return valid.nonzero()[0]
        old = rounds.places(some.rows, some.heads.size, "old")
        valid = rounds.latest(new) == round - 1
        changed = [before != after for before, after in zip(old, new, strict=True)]
        if some.kind == AGAIN:
            for is_changed in changed:
                valid &= ~is_changed
            return (valid & (kept.new[some.heads] == NEVER)).nonzero()[0]
        for i, is_changed in enumerate(changed):
            if i != place:  # of several that have changed, the last to come speaks for all
                later = new[i] > new[place] if i < place else new[i] >= new[place]
                valid &= ~(is_changed & later)
        counted = (kept.old[some.heads] == round) & (rounds.latest(old) == round - 1)
        return (valid & ~counted).nonzero()[0]

    def _settle(
        self, round: int, name: str, more: Array, less: Array, late: dict[str, Array], come: dict[str, Array]
    ) -> None:
        """Which rows of a relation come in this round, and which no longer do."""
        kept = self._kept[name]
        rows, at = np.unique(np.concatenate((more, less)), return_inverse=True)
        added = np.bincount(at[: more.size], minlength=rows.size)
        removed = np.bincount(at[more.size :], minlength=rows.size)
        open_ = kept.new[rows] >= round  # others have come before
        rows, added, removed = rows[open_], added[open_], removed[open_]
        here = kept.new[rows] == round
        stays, more_here, less_here = rows[here], added[here], removed[here]
        unknown = (less_here > 0) & (kept.counts[stays] == UNKNOWN)
        if unknown.any():
            self._count(name, round, stays[unknown])
        counts = kept.counts[stays].astype(np.int64)
        known = counts != UNKNOWN
        stays, counts = stays[known], (counts + more_here - less_here)[known]
        kept.set_counts(stays, counts)
        gone = stays[counts == 0]
        if gone.size:
            kept.set_round(gone, NEVER)
            late[name] = gone
        arrives, number = rows[~here & (added > 0)], added[~here & (added > 0)]
        if arrives.size:
            kept.set_round(arrives, round)
            kept.set_counts(arrives, number)
            come[name] = arrives

    def _count(self, name: str, round: int, rows: Array) -> None:
        """Finds out in how many ways rows came in a round, before the update."""
        kept = self._kept[name]
        counts = np.zeros(rows.size, np.int64)  # rows are sorted
        chosen = ChosenRows(kept, rows)
        for clause in self._clauses:
            if clause.relation != name:
                continue
            for found in clause.instances.of_head(chosen):
                self._tick(found.size)
                counted = clause.rounds.latest(clause.rounds.places(found.rows, found.size, "old")) == round - 1
                if counted.any():
                    heads = kept.find([column[counted] for column in found.head], int(np.count_nonzero(counted)))
                    counts += np.bincount(np.searchsorted(rows, heads), minlength=rows.size)
        kept.set_counts(rows, counts)

    # --- What follows from a change ---------------------------------------------------------------

    def _spread(self, round: int, late: Rows, come: Rows) -> None:
        late_rows, come_rows = self._chosen(late), self._chosen(come)
        for clause in self._clauses:
            for place, where in enumerate(clause.instances.clause.places):
                goes, comes = (come_rows, late_rows) if where.negated else (late_rows, come_rows)
                if where.relation in goes:
                    for found in clause.instances.at_place(place, goes[where.relation]):
                        self._put_off_removed(clause, place, found)
                if where.relation in comes:
                    for found in clause.instances.at_place(place, comes[where.relation]):
                        self._put_off_added(round, clause, place, found)
            if clause.relation in late_rows:
                for found in clause.instances.of_head(late_rows[clause.relation]):
                    self._put_off_again(round, clause, found)

    def _coming(self, clause: ClauseUpdate, found: Found, epoch: str) -> tuple[Found, Array]:
        """The instances that come at all, and in which round, if nothing changes any more."""
        self._tick(found.size)
        latest = clause.rounds.latest(clause.rounds.places(found.rows, found.size, epoch))
        there = (latest < NEVER).nonzero()[0]
        if there.size < found.size:
            found, latest = found.chosen(there), latest[there]
        return found, latest.astype(np.int64) + 1

    def _put_off_removed(self, clause: ClauseUpdate, place: int, found: Found) -> None:
        kept = self._kept[clause.relation]
        found, rounds = self._coming(clause, found, "old")
        heads = kept.find(found.head, found.size)
        counted = (heads >= 0) & (kept.old[heads] == rounds)
        self._put_off(REMOVED, clause, place, found, heads, rounds, counted)

    def _put_off_added(self, round: int, clause: ClauseUpdate, place: int, found: Found) -> None:
        kept = self._kept[clause.relation]
        found, rounds = self._coming(clause, found, "new")
        heads = kept.enter(found.head, found.size)
        self._put_off(ADDED, clause, place, found, heads, rounds, kept.new[heads] > round)

    def _put_off_again(self, round: int, clause: ClauseUpdate, found: Found) -> None:
        found, rounds = self._coming(clause, found, "new")
        heads = self._kept[clause.relation].find(found.head, found.size)
        self._put_off(AGAIN, clause, -1, found, heads, rounds, rounds > round)

    def _put_off(
        self, kind: str, clause: ClauseUpdate, place: int, found: Found, heads: Array, rounds: Array, which: Any
    ) -> None:
        chosen = which.nonzero()[0]
        if not chosen.size:
            return
        rounds = rounds[chosen]
        first = int(rounds[0])
        for round in [first] if (rounds == first).all() else np.unique(rounds).tolist():
            some = chosen[rounds == round]
            rows = [row[some] for row in found.rows]
            self._waiting[round].append(_Waiting(kind, clause, place, rows, heads[some]))


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)

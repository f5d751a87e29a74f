"""The round in which an instance of a rule derives its head, before and after an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.clause import Clause
from flintlog.incremental.rules.instances import Found

Version: TypeAlias = Literal["old", "new"]  # before the update, and after it


class ClauseRounds:
    """The rounds of a clause's literals, as its stratum counts them. A row of a lower stratum has round 0; so has a
    negated literal whose row is absent. The rule itself is the last literal: `before` and `after` say whether it
    belongs to the program before and after the update."""

    def __init__(self, clause: Clause, kept: Mapping[str, MaintainedRelation]) -> None:
        self.clause, self._kept = clause, kept
        self.before = self.after = True
        # Rows derived without recursion have round 1, so recursive rules derive rows from round 2 on.
        self.least = 1 if clause.is_recursive else 0

    def latest(self, found: Found, epoch: Version) -> Array:
        """The latest round of each instance's literals: it derives its head in the next; NEVER if a literal fails."""
        is_there = self.before if epoch == "old" else self.after
        latest: Array = np.full(found.size, self.least if is_there else NEVER, np.int32)
        if not is_there:
            return latest
        for literal, rows in zip(self.clause.literals, found.rows, strict=True):
            rounds = getattr(self._kept[literal.relation].rounds, epoch)[rows]
            if literal.negated:
                rounds = np.where((rows >= 0) & (rounds != NEVER), NEVER, 0)
            elif not literal.own:
                rounds = np.where(rounds != NEVER, 0, NEVER)
            latest = np.maximum(latest, rounds)
        return latest

    def holding(self, found: Found, epoch: Version) -> tuple[Found, Array]:
        """The instances whose literals all hold, each with its latest round."""
        latest = self.latest(found, epoch)
        there = (latest != NEVER).nonzero()[0]
        return (found, latest) if there.size == found.size else (found.chosen(there), latest[there])

"""The round in which an instance of a rule derives its head, before and after an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.clause import Clause

_ALWAYS = np.int32(0)


class ClauseRounds:
    """The rounds of a clause's literals, as its stratum counts them. A row of a lower stratum has round 0; so has a
    negated literal whose row is absent. The rule itself is the last literal: `before` and `after` say whether it
    belongs to the program before and after the update."""

    def __init__(self, clause: Clause, kept: Mapping[str, MaintainedRelation]) -> None:
        self.clause, self._kept = clause, kept
        self.before = self.after = True
        # Rows derived without recursion have round 1, so recursive rules derive rows from round 2 on.
        self.least = 1 if clause.is_recursive else 0

    def places(self, rows: list[Array], size: int, which: str) -> list[Any]:
        """For each literal the rounds of its rows in `size` instances, before ("old") or after ("new") the update. The
        last is the rule's: `_ALWAYS` if it belongs to the program before and after, and has other literals."""
        result: list[Any] = []
        for place, at in zip(self.clause.places, rows, strict=True):
            rounds = getattr(self._kept[place.relation], which)[at]
            if place.negated:
                rounds = np.where((at >= 0) & (rounds != NEVER), NEVER, 0)
            elif not place.own:
                rounds = np.where(rounds != NEVER, 0, NEVER)
            result.append(rounds)
        if self.before and self.after and result:
            result.append(_ALWAYS)
        else:
            is_there = self.before if which == "old" else self.after
            result.append(np.full(size, 0 if is_there else NEVER, np.int32))
        return result

    def latest(self, rounds: list[Any]) -> Any:
        """The latest round of each instance's literals: it derives its head in the next; NEVER if a literal fails."""
        result = np.maximum(rounds[0], self.least)
        for other in rounds[1:]:
            if other is not _ALWAYS:
                result = np.maximum(result, other)
        return result

"""In which round an instance of a rule comes, before an update and after it."""

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
    """The rounds of a clause's places, as its own stratum counts: what comes from below is there from round 0 on. A row
    that must be absent is there, in this sense, if it is not. The rule itself is the last place; `before` and `after`
    say whether it belongs to the program then."""

    def __init__(self, clause: Clause, kept: Mapping[str, MaintainedRelation]) -> None:
        self.clause, self._kept = clause, kept
        self.before = self.after = True
        # Rows without recursion come in round 1, also for the rules that read them.
        self.least = 1 if clause.is_recursive else 0

    def places(self, rows: list[Array], size: int, which: str) -> list[Any]:
        """The rounds of the rows at every place of so many instances, "old" or "new". The rule's own is one number
        where it belongs to the program all the time and there are others."""
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
        """The round of the last row to come: an instance comes in the next one; NEVER if one does not come."""
        result = np.maximum(rounds[0], self.least)
        for other in rounds[1:]:
            if other is not _ALWAYS:
                result = np.maximum(result, other)
        return result

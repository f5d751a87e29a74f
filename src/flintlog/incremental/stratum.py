"""What is known of a stratum besides the rows of its relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rules.best_rules import may_wrap
from flintlog.incremental.rules.flattened_program import Part
from flintlog.incremental.strategies.aggregate_update import FoldUpdate
from flintlog.incremental.strategies.bootstrap import Bootstrap, Ranges
from flintlog.incremental.strategies.counting import RoundCounts
from flintlog.incremental.strategies.rule_update import ClauseUpdate
from flintlog.incremental.strategies.stratum_code import StratumCode
from flintlog.incremental.strategies.switch import Outcome, Switch
from flintlog.incremental.strategies.workspace import Workspace

NOTHING_PASSED: Mapping[str, Ranges] = MappingProxyType({})


@dataclass(eq=False)
class KeptStratum:
    """`seconds` is what computing it took. Without `has_rounds`, rounds of rows say only whether they are there. If it
    `has_wrapped`, there may have been best values beyond their words while it was computed.
    `counts` are there after updates that count by rounds, until there is an update of another kind."""

    part: Part
    clauses: list[ClauseUpdate] = field(default_factory=list)
    fold: FoldUpdate | None = None
    by_key: Lookup | None = None  # where best values are kept
    seconds: float = 0.0
    has_rounds: bool = True
    has_wrapped: bool = False
    counts: Mapping[str, RoundCounts] | None = None
    switch: Switch = field(default_factory=Switch)
    _code: StratumCode | None = field(default=None, init=False)  # of these clauses, and of no others

    @property
    def relations(self) -> tuple[str, ...]:
        return self.part.stratum.relations

    def may_wrap(
        self, kept: Mapping[str, MaintainedRelation], bits: int, passed: Mapping[str, Ranges] = NOTHING_PASSED
    ) -> bool:
        """Whether its best values are, or could become, or with ranges that they have `passed` may have been, beyond
        words of so many bits: then no row speaks for another."""

        def range_of(name: str, position: int) -> tuple[int, int] | None:
            ranges = passed.get(name, kept[name].relation.ranges)
            return ranges[position] if ranges is not None else (0, 0)

        best = self.part.best
        return best is not None and (
            self.has_wrapped or any(may_wrap(clause.instances.clause, best, range_of, bits) for clause in self.clauses)
        )

    def computed(self, run: Bootstrap, kept: Mapping[str, MaintainedRelation], bits: int, seconds: float) -> None:
        """Takes what a run tells that has computed it."""
        self.has_rounds, self.has_wrapped, self.counts = True, False, None
        self.has_wrapped = self.may_wrap(kept, bits, run.passed)
        self.seconds = seconds

    def code(self, kept: Mapping[str, MaintainedRelation]) -> StratumCode:
        """Its clauses for kernels, as they are now."""
        if self._code is None or not self._code.fits(kept, self.clauses):
            self._code = StratumCode(kept, self.relations, self.clauses)
        return self._code

    def preparations(
        self, kept: Mapping[str, MaintainedRelation], workspace: Workspace
    ) -> Iterator[tuple[Callable[[], object], int]]:
        """What makes ready what its updates will ask for, one step at a time, each with the rows that it looks at."""
        if self.part.best is not None:
            for clause in self.clauses:
                yield from clause.instances.preparations(self.part.best.position)
        elif self.clauses:
            code = self.code(kept)
            for name, some in code.kept.items():
                yield partial(some.make_ready, changes=name in code.own), some.rounds.known
            for clause_number, number in code.searches():
                rows = self.clauses[clause_number].instances.rows_read()
                yield partial(code.make, clause_number, number, workspace), rows
        if self.fold is not None:
            yield from self.fold.preparations()
        if self.by_key is not None:
            yield from self.by_key.preparations()

    def copy(self) -> KeptStratum:
        """As `dataclasses.replace`, which takes longer than the update of a small stratum."""
        other: KeptStratum = object.__new__(KeptStratum)
        other.__dict__.update(self.__dict__)
        return other

    def facts(self) -> dict[str, Any]:
        """What a database keeps of it, in words of JSON."""
        outcomes = [outcome._replace(seconds=_microseconds(outcome.seconds)) for outcome in self.switch.outcomes]
        return {
            "seconds": _microseconds(self.seconds),
            "has_rounds": self.has_rounds,
            "has_wrapped": self.has_wrapped,
            "outcomes": outcomes,
        }

    def remember(self, facts: Mapping[str, Any]) -> None:
        """Takes what `facts` was."""
        self.seconds, self.has_rounds = facts.get("seconds", 0.0), facts.get("has_rounds", True)
        self.has_wrapped = facts.get("has_wrapped", False)
        self.switch = Switch(Outcome(*outcome) for outcome in facts.get("outcomes", ()))


def _microseconds(seconds: float) -> float:
    """Few enough digits that another one is always another number: checksums are of numbers, not of their spelling."""
    return round(seconds, 6)

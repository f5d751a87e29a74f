"""A stratum that maintenance keeps current: its rules, and what is known besides the rows of its relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.best_rules import may_wrap
from flintlog.incremental.rules.flattened_program import Part
from flintlog.incremental.strategies.aggregate_update import AggregateUpdate
from flintlog.incremental.strategies.bootstrap import Bootstrap, Ranges
from flintlog.incremental.strategies.counting import RoundCounts
from flintlog.incremental.strategies.rule_update import ClauseUpdate, clause_update
from flintlog.incremental.strategies.stratum_code import StratumCode
from flintlog.incremental.strategies.switch import Outcome, Switch
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.ir.program import Program
from flintlog.ir.scalar import Column

NOTHING_PASSED: Mapping[str, Ranges] = MappingProxyType({})


@dataclass(eq=False)
class MaintainedStratum:
    """`aggregate` updates a stratum that is an aggregate, `by_key` finds the rows of keys where best values are kept.
    `seconds` is what computing the stratum took. Without `has_rounds`, the round of a row says only whether it holds.
    If the stratum `has_wrapped`, best values may have been beyond their words while it was computed. `counts` are there
    after an update by counting, until the next one of another kind."""

    part: Part
    clauses: list[ClauseUpdate]
    aggregate: AggregateUpdate | None = None
    by_key: Lookup | None = None
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
        self, relations: Mapping[str, MaintainedRelation], bits: int, passed: Mapping[str, Ranges] = NOTHING_PASSED
    ) -> bool:
        """Whether best values are, or may become, or with the ranges that they have `passed` may have been, beyond
        words of so many bits. A better value may then give a worse one."""

        def range_of(name: str, position: int) -> tuple[int, int] | None:
            ranges = passed.get(name, relations[name].relation.ranges)
            return ranges[position] if ranges is not None else (0, 0)

        best = self.part.best
        return best is not None and (
            self.has_wrapped or any(may_wrap(clause.instances.clause, best, range_of, bits) for clause in self.clauses)
        )

    def computed(self, run: Bootstrap, relations: Mapping[str, MaintainedRelation], bits: int, seconds: float) -> None:
        """Remembers that a run has computed the stratum."""
        self.has_rounds, self.has_wrapped, self.counts = True, False, None
        self.has_wrapped = self.may_wrap(relations, bits, run.passed)
        self.seconds = seconds

    def code(self, relations: Mapping[str, MaintainedRelation]) -> StratumCode:
        """The clauses in the form that kernels read."""
        if self._code is None or not self._code.fits(relations, self.clauses):
            self._code = StratumCode(relations, self.relations, self.clauses)
        return self._code

    def preparations(
        self, relations: Mapping[str, MaintainedRelation], workspace: Workspace
    ) -> Iterator[tuple[Callable[[], object], int]]:
        """The steps that prepare updates, each with the number of rows that it reads."""
        if self.part.best is not None:
            for clause in self.clauses:
                yield from clause.instances.preparations(self.part.best.position)
        elif self.clauses:
            code = self.code(relations)
            for name, some in code.relations.items():
                yield partial(some.make_ready, changes=name in code.own), some.rounds.known
            for clause_number, number in code.searches():
                rows = self.clauses[clause_number].instances.rows_read()
                yield partial(code.make, clause_number, number, workspace), rows
        if self.aggregate is not None:
            yield from self.aggregate.preparations()
        if self.by_key is not None:
            yield from self.by_key.preparations()

    def copy(self) -> MaintainedStratum:
        """As `dataclasses.replace`, which takes longer than the update of a small stratum."""
        other: MaintainedStratum = object.__new__(MaintainedStratum)
        other.__dict__.update(self.__dict__)
        return other

    def facts(self) -> dict[str, Any]:
        """What a snapshot says of the stratum, as JSON."""
        outcomes = [outcome._replace(seconds=_microseconds(outcome.seconds)) for outcome in self.switch.outcomes]
        return {
            "seconds": _microseconds(self.seconds),
            "has_rounds": self.has_rounds,
            "has_wrapped": self.has_wrapped,
            "outcomes": outcomes,
        }

    def remember(self, facts: Mapping[str, Any]) -> None:
        """Takes what `facts` said when the snapshot was written."""
        self.seconds, self.has_rounds = facts.get("seconds", 0.0), facts.get("has_rounds", True)
        self.has_wrapped = facts.get("has_wrapped", False)
        self.switch = Switch(Outcome(*outcome) for outcome in facts.get("outcomes", ()))


def stratum_of(
    part: Part, program: Program, planner: Planner, clauses: Sequence[ClauseUpdate] | None = None
) -> MaintainedStratum:
    """A stratum of which nothing is known yet. Without `clauses`, these are made."""
    if clauses is None:
        clauses = [clause_update(rule, part, planner) for rule in part.stratum.rules] if part.has_clauses else []
    aggregate = AggregateUpdate(part.stratum.relations[0], part.fold, planner) if part.fold is not None else None
    return MaintainedStratum(part, list(clauses), aggregate, _by_key(part, program, planner))


def _by_key(part: Part, program: Program, planner: Planner) -> Lookup | None:
    if part.best is None:
        return None
    name, value = part.best.relation, part.best.position
    schema = [Column(f"c{position}", kind) for position, kind in enumerate(program.relations[name].kinds)]
    keys = [column.name for position, column in enumerate(schema) if position != value]
    return Lookup(lambda: planner.relations[name], schema, keys, planner)


def _microseconds(seconds: float) -> float:
    """With few digits, each spelling is another number: the checksum is of the numbers, not of their spelling."""
    return round(seconds, 6)

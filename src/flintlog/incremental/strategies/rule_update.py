"""An update of one stratum by its rules: what it is given, and what all strategies share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.chosen_rows import ChosenRows
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.clause import clause_of
from flintlog.incremental.rules.flattened_program import Part
from flintlog.incremental.rules.instance_rounds import ClauseRounds
from flintlog.incremental.rules.instances import Found, Instances
from flintlog.ir.program import Rule

Rows = Mapping[str, Array]
Tick = Callable[[int], None]


def no_tick(instances: int) -> None:
    """The update may take any time."""


@dataclass(eq=False)
class ClauseUpdate:
    """A rule, its instances for given rows, and the rounds of these."""

    rule: Rule
    instances: Instances
    rounds: ClauseRounds

    @property
    def relation(self) -> str:
        return self.instances.clause.relation


def clause_update(rule: Rule, part: Part, planner: Planner) -> ClauseUpdate:
    clause = clause_of(rule, part.stratum.relations)
    return ClauseUpdate(rule, Instances(clause, planner), ClauseRounds(clause, planner.relations))


@dataclass(frozen=True)
class Difference:
    """The changes that a stratum is updated from: rows of the relations below it, its own facts (which `given` says
    already), and its rules."""

    lost: Rows
    gained: Rows
    rules_lost: list[ClauseUpdate]
    rules_gained: list[ClauseUpdate]

    @property
    def size(self) -> int:
        return sum(rows.size for some in (self.lost, self.gained) for rows in some.values())

    def rows(self) -> dict[str, Array]:
        """Lost and gained rows together, by relation."""
        both = self.lost, self.gained
        return {
            name: np.concatenate([some[name] for some in both if name in some]) for name in {*self.lost, *self.gained}
        }


class RuleUpdate(ABC):
    """The update of the stratum with the relations `own`. `clauses` are its rules before the update and after it.
    `tick` is called with the number of instances whenever some were found; it may raise OverBudget."""

    def __init__(
        self,
        relations: Mapping[str, MaintainedRelation],
        own: Iterable[str],
        clauses: Iterable[ClauseUpdate],
        tick: Tick = no_tick,
    ) -> None:
        self._relations, self._own, self._clauses, self._tick = relations, tuple(own), list(clauses), tick

    @abstractmethod
    def run(self, difference: Difference) -> None: ...

    def _touched(self, rows: Rows, absent: Rows) -> Iterator[tuple[ClauseUpdate, Found]]:
        """Instances that have one of `rows`, or a negated literal for one of `absent`."""
        there, not_there = self._chosen(rows), self._chosen(absent)
        for clause in self._clauses:
            for number, literal in enumerate(clause.instances.clause.literals):
                some = (not_there if literal.negated else there).get(literal.relation)
                if some is not None:
                    for found in clause.instances.at_literal(number, some):
                        yield clause, found

    def _chosen(self, rows: Rows) -> dict[str, ChosenRows]:
        return {name: ChosenRows(self._relations[name], some) for name, some in rows.items() if some.size}


def all_instances(clauses: Iterable[ClauseUpdate]) -> Iterator[tuple[ClauseUpdate, Found]]:
    for clause in clauses:
        for found in clause.instances.all():
            yield clause, found

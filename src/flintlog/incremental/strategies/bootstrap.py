"""Strata computed from nothing, by the embedded engine, with the round in which each row came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flintlog.engines.local.fixpoint import ColumnarRun, StratumRun
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.protocol import Evaluation
from flintlog.engines.queries.query import Rows, mentions, query_of
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rules.flattened_program import Part
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.program import Program, Stratum

Ranges = Sequence[tuple[int, int]]


class Bootstrap(ColumnarRun):
    """A run over facts, and over `known` relations as they stand."""

    def __init__(
        self,
        program: Program,
        facts: Mapping[str, ColumnFacts],
        known: Mapping[str, Relation],
        machine: Machine,
        evaluation: Evaluation,
    ) -> None:
        super().__init__(program, facts, machine, 1, evaluation)
        self.store.update(known)
        self.lent = frozenset(known)
        self.given = {name: relation.size for name, relation in self.store.items()}
        self._marks = {name: [size] for name, size in self.given.items()}
        self._levels: dict[str, NDArray[np.int32]] = {}
        self.passed: dict[str, Ranges] = {}  # the values that rules have read of best rows, also for a while only

    def compute(self, part: Part) -> None:
        if part.again:
            self._stratum(part.stratum)
        elif part.best is not None:
            name, relation = part.best.relation, self._run_best(part.best, part.stratum, keeps_rounds=True)
            self._levels[name] = relation.rounds()
            if relation.ranges is not None:
                self.passed[name] = relation.ranges
        else:
            _RecordedRun(self, part.stratum, self._marks).run()

    def rounds_of(self, name: str) -> NDArray[np.int32]:
        """The round of every row of a relation, in the order of its log."""
        if name in self._levels:
            return self._levels[name]
        marks, size = self._marks[name], self.store[name].size
        if marks[-1] != size:  # computed in another way
            return np.ones(size, np.int32)
        lengths = np.diff(marks, prepend=0)
        return np.repeat(np.arange(lengths.size, dtype=np.int32), lengths)


class _RecordedRun(StratumRun):
    """Rounds are exact. The engine lets a rule that looks for a row see those of the current round, which is quicker,
    and as right, but makes rows come a round too early; here it sees what was visible before."""

    def __init__(self, run: ColumnarRun, stratum: Stratum, marks: dict[str, list[int]]) -> None:
        super().__init__(run, stratum)
        self._marks = marks

    def run(self, resume: int | None = None) -> None:
        relations = [self.store[name] for name in self._looked_up()]
        for relation in relations:
            relation.looked_up = relation.empty()
            _copy(relation, 0, relation.looked_up)
        super().run(resume)
        for relation in relations:
            relation.looked_up = None

    def _looked_up(self) -> set[str]:
        """The stratum's relations of which a rule may look for a row: another literal reads what is new, and all that
        the row has can be known before."""
        own, result = self.stratum.relations, set()
        for rule in self.stratum.rules:
            body = query_of(rule.body).literals
            read = [literal for literal in body if isinstance(literal, Rows) and literal.source in own]
            for literal in read if len(read) > 1 else ():
                known = {name for other in body if other is not literal for name in mentions(other)}
                if all(variable.name in known for variable in literal.variables):
                    result.add(str(literal.source))
        return result

    def _next_round(self) -> int:
        new = super()._next_round()
        for name in self.stratum.relations:
            relation = self.store[name]
            self._marks[name].append(relation.size)
            if relation.looked_up is not None:
                _copy(relation, relation.delta, relation.looked_up)
        return new


def _copy(relation: Relation, start: int, into: Relation) -> None:
    """Puts the visible rows from a place on into another relation."""
    end = relation.visible
    into.insert([relation.column(position, start, end) for position in range(relation.arity)], end - start)
    into.next_round()

"""A run of the embedded engine that remembers the round of each row."""

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
    """A run over facts, and over relations that are `known`."""

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
        self.passed: dict[str, Ranges] = {}  # of columns of best values, also of those that better ones replaced

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
    """A stratum whose rounds are exact. The engine lets a rule that looks one row up see the rows of the current round.
    That is quicker, and the result is the same, but heads come a round too early. Here, the rule sees the rows of
    earlier rounds only."""

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
        """The relations of the stratum in which a rule may look one row up: another of its literals reads new rows, and
        binds all columns of the row."""
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
    """Puts the visible rows from position `start` on into another relation."""
    end = relation.visible
    into.insert([relation.column(position, start, end) for position in range(relation.arity)], end - start)
    into.next_round()

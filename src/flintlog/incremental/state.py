"""All relations and strata of a program, in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flintlog.engines.local.row_strata import encode
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.maintained_relation import MaintainedRelation, StoredRows
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.flattened_program import FlattenedProgram
from flintlog.incremental.strategies.bootstrap import Bootstrap
from flintlog.incremental.strategies.switch import BUDGET
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.incremental.stratum import MaintainedStratum, stratum_of
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.nodes import Values
from flintlog.ir.program import Program
from flintlog.types import Kind

# A new database is made ready for updates in this part of the time in which it was computed, or a little more.
MOST_PREPARATION, LEAST_PREPARATION = 0.2, 0.15
SECONDS_A_ROW = 6e-8  # for an index, or a table of positions, that is not there yet


class State:
    """Filled by `bootstrap` or `restore`, and changed by an `Epoch`. Columns have the machine's words. `budget` is the
    part of the time that a stratum took to compute which its update may take; None: the update may take any time."""

    def __init__(
        self,
        flattened: FlattenedProgram,
        machine: Machine,
        evaluation: Evaluation,
        budget: float | None = BUDGET,
    ) -> None:
        self.flattened, self.machine, self.budget, self._evaluation = flattened, machine, budget, evaluation
        self.relations: dict[str, MaintainedRelation] = {}
        self.strata: dict[tuple[str, ...], MaintainedStratum] = {}  # by their relations
        self.planner, self.workspace = Planner(machine, self.relations), Workspace()

    def bootstrap(self, given: Mapping[str, ColumnFacts]) -> None:
        """Computes all relations from facts."""
        constants = {name: constant_facts(rows, self.machine) for name, rows in self.flattened.constants.items()}
        facts = {**given, **constants}
        seconds: dict[tuple[str, ...], float] = {}
        run = self.start(facts, {}, self.flattened.program)
        try:
            for part in self.flattened.parts:
                started = time.perf_counter()
                run.compute(part)
                seconds[part.stratum.relations] = time.perf_counter() - started
        finally:
            run.workers.close()
        for name, relation in run.store.items():
            self.relations[name] = made = MaintainedRelation(relation)
            made.rounds.start(run.rounds_of(name))
            if name in facts and len(facts[name]):  # some need not hold: other rows are better, or came first
                made.enter_given(facts[name].columns, len(facts[name]))
        self._make_strata()
        for relations, stratum in self.strata.items():
            stratum.computed(run, self.relations, self.machine.words.size, seconds[relations])

    def restore(self, relations: Mapping[str, StoredRows], facts: Mapping[str, Mapping[str, Any]]) -> None:
        """Takes the relations of a snapshot, and what `facts_of_strata` said when it was written."""
        for name, relation in self.flattened.program.relations.items():
            self.relations[name] = made = MaintainedRelation(Relation(name, len(relation.columns)))
            made.restore(relations[name])
        self._make_strata()
        for names, stratum in self.strata.items():
            stratum.remember(facts.get(" ".join(names), {}))

    def _make_strata(self) -> None:
        program = self.flattened.program
        made = [stratum_of(part, program, self.planner) for part in self.flattened.parts]
        self.strata = {stratum.relations: stratum for stratum in made}

    def prepare(self) -> None:
        """Makes plans, indexes and tables of positions for the first updates, as far as that takes a small part of the
        time that computing took."""
        seconds = max(LEAST_PREPARATION, MOST_PREPARATION * sum(stratum.seconds for stratum in self.strata.values()))
        end = time.perf_counter() + seconds
        _ = self.flattened.last_readers, self.flattened.computed
        self._make_room_for_symbols(end)
        for stratum in self.strata.values():
            for prepare, rows in stratum.preparations(self.relations, self.workspace):
                if time.perf_counter() + SECONDS_A_ROW * rows < end:
                    prepare()
        self.planner.statistics.forget()

    def _make_room_for_symbols(self, end: float) -> None:
        known = len(self.machine.known)
        for name, relation in self.relations.items():
            if time.perf_counter() > end:
                break
            kinds = self.flattened.program.relations[name].kinds
            relation.make_room_for_symbols([i for i, kind in enumerate(kinds) if kind is Kind.SYMBOL], known)

    def facts_of_strata(self) -> dict[str, dict[str, Any]]:
        """What a snapshot says of each stratum, as JSON, by the names of its relations."""
        return {" ".join(names): stratum.facts() for names, stratum in self.strata.items()}

    def computed_anew(self) -> State:
        """The same facts and rules, computed from nothing."""
        given = {name: relation.facts(relation.rounds.facts()) for name, relation in self.relations.items()}
        fresh = State(self.flattened, self.machine, self._evaluation, budget=None)
        fresh.bootstrap({name: facts for name, facts in given.items() if name not in self.flattened.constants})
        return fresh

    def start(self, facts: Mapping[str, ColumnFacts], known: Mapping[str, Relation], program: Program) -> Bootstrap:
        """A run of a program over facts, and over relations that are `known`; it has computed nothing yet."""
        return Bootstrap(program, facts, known, self.machine, self._evaluation)

    def start_part(self, facts: Mapping[str, ColumnFacts], known: Mapping[str, Relation]) -> Bootstrap:
        """A run with these relations only: making all of a large program takes longer than a small stratum."""
        program = self.flattened.program
        declared = {name: program.relations[name] for name in (*facts, *known)}
        return self.start(facts, known, replace(program, relations=declared))


def constant_facts(values: Values, machine: Machine) -> ColumnFacts:
    """Rows that stand in the program's text."""
    columns = encode(values.rows, tuple(column.kind for column in values.schema), machine)
    return ColumnFacts(tuple(columns), len(values.rows))

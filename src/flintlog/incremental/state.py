"""All relations of a program, computed once and kept current from then on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.row_strata import encode
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.epoch import Epoch
from flintlog.incremental.rows.distinct import each_once
from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.maintained_relation import MaintainedRelation, StoredRows
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.clause import clause_of
from flintlog.incremental.rules.flattened_program import FlattenedProgram, Part
from flintlog.incremental.rules.instance_rounds import ClauseRounds
from flintlog.incremental.rules.instances import Instances
from flintlog.incremental.strategies.aggregate_update import FoldUpdate
from flintlog.incremental.strategies.bootstrap import Bootstrap
from flintlog.incremental.strategies.counting import RoundCounts
from flintlog.incremental.strategies.rule_changes import RuleChanges, changes_of
from flintlog.incremental.strategies.rule_update import ClauseUpdate
from flintlog.incremental.strategies.switch import BUDGET, Allowance
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.incremental.stratum import KeptStratum
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.nodes import Values
from flintlog.ir.program import Program, Rule
from flintlog.ir.program import Relation as ProgramRelation
from flintlog.ir.scalar import Column
from flintlog.types import Kind

# A new database is made ready for updates in this part of the time in which it was computed, or a little more.
MOST_PREPARATION, LEAST_PREPARATION = 0.2, 0.15
SECONDS_A_ROW = 6e-8  # for an index, or a table of places, that is not there yet

Columns = Sequence[Array]
Strata = dict[tuple[str, ...], KeptStratum]


class State:
    """Relations in columns of the machine's words, after `bootstrap` or `restore`. `budget` is the part of a stratum's
    own time that its update may take, None for as long as it takes."""

    def __init__(
        self,
        flattened: FlattenedProgram,
        machine: Machine,
        evaluation: Evaluation,
        budget: float | None = BUDGET,
    ) -> None:
        self.flattened, self.machine, self.budget = flattened, machine, budget
        self._evaluation = evaluation
        self.kept: dict[str, MaintainedRelation] = {}
        self.strata: Strata = {}
        self.recomputed: Mapping[str, str] = {}  # what the last update computed again, and why
        self._changes_of_rules: dict[tuple[str, ...], RuleChanges] = {}
        self._before = flattened, self.strata
        # The strata that an update has come to which is not done, each as it was before.
        self._reached: Strata = {}
        self._planner = Planner(machine, self.kept)
        self._workspace = Workspace()

    def bootstrap(self, given: Mapping[str, ColumnFacts]) -> None:
        """Computes everything from the facts that are given."""
        constants = {name: _constant_facts(v, self.machine) for name, v in self.flattened.constants.items()}
        facts = {**given, **constants}
        seconds: dict[tuple[str, ...], float] = {}
        run = self.start(facts, {})
        try:
            for part in self.flattened.parts:
                started = time.perf_counter()
                run.compute(part)
                seconds[part.stratum.relations] = time.perf_counter() - started
        finally:
            run.workers.close()
        for name, relation in run.store.items():
            self.kept[name] = kept = MaintainedRelation(relation)
            kept.rounds.start(run.rounds_of(name))
            if name in facts and len(facts[name]):  # some need not be there: others are better, or came first
                kept.enter_given(facts[name].columns, len(facts[name]))
        self.strata = {part.stratum.relations: self._stratum(part) for part in self.flattened.parts}
        for relations, stratum in self.strata.items():
            stratum.computed(run, self.kept, self.machine.words.size, seconds[relations])
        self._before = self.flattened, self.strata

    def restore(self, relations: Mapping[str, StoredRows], facts: Mapping[str, Mapping[str, Any]]) -> None:
        """Takes everything as it was kept; `facts` is what `facts_of_strata` was."""
        for name, relation in self.flattened.program.relations.items():
            self.kept[name] = kept = MaintainedRelation(Relation(name, len(relation.columns)))
            kept.restore(relations[name])
        self.strata = {part.stratum.relations: self._stratum(part) for part in self.flattened.parts}
        for names, stratum in self.strata.items():
            stratum.remember(facts.get(" ".join(names), {}))
        self._before = self.flattened, self.strata

    def prepare(self) -> None:
        """Makes ready what the first updates would have to, as far as that takes a part of what computing took: plans,
        indexes, tables of places."""
        seconds = max(LEAST_PREPARATION, MOST_PREPARATION * sum(stratum.seconds for stratum in self.strata.values()))
        end = time.perf_counter() + seconds
        _ = self.flattened.last_readers, self.flattened.computed
        self._make_room_for_symbols(end)
        for stratum in self.strata.values():
            for prepare, rows in stratum.preparations(self.kept, self._workspace):
                if time.perf_counter() + SECONDS_A_ROW * rows < end:
                    prepare()
        self._planner.statistics.forget()

    def _make_room_for_symbols(self, end: float) -> None:
        known = len(self.machine.known)
        for name, kept in self.kept.items():
            if time.perf_counter() > end:
                break
            kinds = self.flattened.program.relations[name].kinds
            kept.make_room_for_symbols([at for at, kind in enumerate(kinds) if kind is Kind.SYMBOL], known)

    def facts_of_strata(self) -> dict[str, dict[str, Any]]:
        """What is known of each stratum, in words of JSON, by the names of its relations."""
        return {" ".join(names): stratum.facts() for names, stratum in self.strata.items()}

    def computed_anew(self) -> State:
        """The same facts and rules, computed from nothing."""
        given = {name: kept.facts(kept.rounds.facts()) for name, kept in self.kept.items()}
        fresh = State(self.flattened, self.machine, self._evaluation, budget=None)
        fresh.bootstrap({name: facts for name, facts in given.items() if name not in self.flattened.constants})
        return fresh

    def no_counts(self, relations: Iterable[str]) -> dict[str, RoundCounts]:
        """Where counts of rounds may go."""
        return {name: RoundCounts(name, self._planner) for name in relations}

    def start(
        self, facts: Mapping[str, ColumnFacts], known: Mapping[str, Relation], program: Program | None = None
    ) -> Bootstrap:
        """A run that has computed nothing yet, of the state's program or another one."""
        program = program or self.flattened.program
        return Bootstrap(program, facts, known, self.machine, self._evaluation)

    def _start_again(self, facts: Mapping[str, ColumnFacts], known: Mapping[str, Relation]) -> Bootstrap:
        """A run that knows of no other relations: making all of a large program takes longer than a small stratum."""
        program = self.flattened.program
        relations = {name: program.relations[name] for name in (*facts, *known)}
        return self.start(facts, known, replace(program, relations=relations))

    def _stratum(self, part: Part) -> KeptStratum:
        clauses = [self._clause(part, rule) for rule in part.stratum.rules] if part.has_clauses else []
        return KeptStratum(part, clauses, self._fold(part), self._by_key(part))

    def _clause(self, part: Part, rule: Rule) -> ClauseUpdate:
        clause = clause_of(rule, part.stratum.relations)
        return ClauseUpdate(rule, Instances(clause, self._planner), ClauseRounds(clause, self.kept))

    def _fold(self, part: Part) -> FoldUpdate | None:
        if part.fold is None:
            return None
        return FoldUpdate(part.stratum.relations[0], part.fold, self._planner)

    def _by_key(self, part: Part) -> Lookup | None:
        if part.best is None:
            return None
        kinds = self.flattened.program.relations[part.best.relation].kinds
        schema = [Column(f"c{position}", kind) for position, kind in enumerate(kinds)]
        keys = [column.name for position, column in enumerate(schema) if position != part.best.position]
        name = part.best.relation
        return Lookup(lambda: self.kept[name], schema, keys, self._planner)

    # --- Updates ----------------------------------------------------------------------------------

    def update(
        self,
        deleted: Mapping[str, Columns],
        inserted: Mapping[str, Columns],
        flattened: FlattenedProgram | None = None,
        strategy: str = "auto",
    ) -> None:
        """Takes facts out and in, and rules, if there is another version of the program. `keep` or `take_back` has to
        follow; until then, relations know both epochs."""
        self._before, self._reached = (self.flattened, self.strata), {}
        inserted = dict(inserted)
        if flattened is not None:
            self._before = self.flattened, {relations: stratum.copy() for relations, stratum in self.strata.items()}
            inserted |= self._change_program(flattened)
        lost = {name: self._marked(name, columns, given=False) for name, columns in deleted.items()}
        gained = {name: self._marked(name, columns, given=True) for name, columns in inserted.items()}
        bits = self.machine.words.size
        allowance = Allowance(self.budget if strategy == "auto" else None, self._planner.preparation)
        epoch = Epoch(
            self.flattened,
            self.kept,
            self.strata,
            self._start_again,
            self.no_counts,
            strategy,
            allowance,
            bits,
            self._workspace,
            self._reached,
        )
        self.recomputed = epoch.recomputed
        epoch.run(lost, gained, self._changes_of_rules)

    def _marked(self, name: str, columns: Columns, *, given: bool) -> Array:
        """Makes rows facts, or no longer; returns the places of those that were not, or were."""
        kept = self.kept[name]
        size = columns[0].size if len(columns) else 1
        rows: Array = each_once(kept.enter(columns, size) if given else kept.find(columns, size))
        rows = rows[rows >= 0]
        rows = rows[kept.rounds.given[rows] != given]
        if rows.size:
            kept.rounds.set_given(rows, given)
        return rows

    def reached(self) -> set[str]:
        """The relations that an update has come to which is not kept yet: no others have changed."""
        computed = self.flattened.computed
        return {name for relations in self._reached for name in computed[relations]}

    def keep(self) -> None:
        """The update is done."""
        self._forget_others()
        changed = [name for name in self.reached() if not self.kept[name].rounds.is_settled()]
        moved = {name for name in changed if self.kept[name].before is not None}
        for name in changed:
            self.kept[name].keep()
        for relations in self._reached:
            for counts in (self.strata[relations].counts or {}).values():
                counts.keep()
        self._rules_are_settled()
        for name in changed:
            with suppress(FlintlogError):  # no memory: they stay as they are
                other = self.kept[name].without_what_is_gone()
                if other is not self.kept[name]:
                    self.kept[name] = other
                    moved.add(name)
        self._let_go_of(moved)
        self._before, self._reached = (self.flattened, self.strata), {}

    def take_back(self) -> None:
        """There was no update."""
        if self.flattened is self._before[0]:
            self.strata |= self._reached
        (self.flattened, self.strata), self._reached = self._before, {}
        self._forget_others()
        self.kept |= {name: kept.before for name, kept in self.kept.items() if kept.before is not None}
        for kept in self.kept.values():
            kept.take_back()
        for stratum in self.strata.values():
            for counts in (stratum.counts or {}).values():
                counts.take_back()
        self._rules_are_settled()

    def _forget_others(self) -> None:
        """Lets go of relations that are not in the program."""
        if len(self.kept) == len(self.flattened.program.relations):
            return
        for name in self.kept.keys() - self.flattened.program.relations.keys():
            del self.kept[name]

    def _let_go_of(self, moved: set[str]) -> None:
        """Makes anew what has been made ready for the former logs of relations."""
        for relations, stratum in self.strata.items():
            if moved.isdisjoint(stratum.part.reads) and moved.isdisjoint(relations):
                continue
            fresh = self._stratum(stratum.part)
            counts = stratum.counts if moved.isdisjoint(relations) else None
            self.strata[relations] = replace(
                stratum, clauses=fresh.clauses, fold=fresh.fold, by_key=fresh.by_key, counts=counts
            )

    def _rules_are_settled(self) -> None:
        self._planner.statistics.forget()
        for changes in self._changes_of_rules.values():
            for clause in (*changes.lost, *changes.gained):
                clause.rounds.before = clause.rounds.after = True
        self._changes_of_rules = {}

    def _change_program(self, flattened: FlattenedProgram) -> dict[str, Columns]:
        """Goes over to another version of the program; returns the constants that are new in it."""
        before, declared = self.strata, self.flattened.program.relations
        self.flattened, self.strata = flattened, {}
        for name, relation in flattened.program.relations.items():
            if name not in self.kept:
                self.kept[name] = MaintainedRelation(Relation(name, len(relation.columns)))
        for part in flattened.parts:
            relations = part.stratum.relations
            known = before.get(relations)
            is_same = all(_is_same(declared.get(name), flattened.program.relations[name]) for name in relations)
            changes, clauses = changes_of(
                part,
                known.part if known and is_same else None,
                known.clauses if known else (),
                partial(self._clause, part),
            )
            if known is None or changes.why:
                self.strata[relations] = KeptStratum(part, clauses, self._fold(part), self._by_key(part))
            else:
                self.strata[relations] = replace(known, part=part, clauses=clauses)
            if changes.any():
                self._changes_of_rules[relations] = changes
        constants = {name: values for name, values in flattened.constants.items() if not self.kept[name].rounds.size}
        return {name: _constant_facts(values, self.machine).columns for name, values in constants.items()}


def _is_same(before: ProgramRelation | None, after: ProgramRelation) -> bool:
    """Whether rows are kept in the same way by two declarations."""
    return before is not None and replace(before, columns=after.columns) == after


def _constant_facts(values: Values, machine: Machine) -> ColumnFacts:
    columns = encode(values.rows, tuple(column.kind for column in values.schema), machine)
    return ColumnFacts(tuple(columns), len(values.rows))

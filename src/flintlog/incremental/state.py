"""All relations of a program, computed once and kept current from then on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from flintlog.engines.closures import Machine
from flintlog.engines.engine import Evaluation
from flintlog.engines.local.by_rows import encode
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.incremental.bootstrap import Bootstrap
from flintlog.incremental.clause import clause_of
from flintlog.incremental.folds import FoldUpdate
from flintlog.incremental.instances import Instances
from flintlog.incremental.kept import NEVER, UNKNOWN, Kept, StoredRows
from flintlog.incremental.normal import Normal, Part, reads_of
from flintlog.incremental.rounds import ClauseRounds
from flintlog.incremental.rule_changes import RuleChanges, changes_of
from flintlog.incremental.update import ClauseUpdate, StratumUpdate
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.program import Rule
from flintlog.ir.relation import Values

Columns = Sequence[Array]

# The part of the time that computing a stratum took, after which an update of it is given up, unless told otherwise.
BUDGET = 0.2
# Updates are never given up before so many seconds.
LEAST_SECONDS = 0.05


class OverBudget(Exception):
    """An update takes too long: computing the stratum again is quicker."""


class State:
    """Relations in columns of the machine's words, after `bootstrap` or `restore`. `budget` is the part of a stratum's
    own time that its update may take, None for as long as it takes."""

    def __init__(
        self,
        normal: Normal,
        machine: Machine,
        evaluation: Evaluation,
        threads: int = 1,
        budget: float | None = BUDGET,
    ) -> None:
        self.normal, self.machine, self.budget = normal, machine, budget
        self._evaluation, self._threads = evaluation, threads
        self._vectors, self._workers = Vectors(machine), Workers(1)
        self.kept: dict[str, Kept] = {}
        self.clauses: dict[tuple[str, ...], list[ClauseUpdate]] = {}
        self._seconds: dict[tuple[str, ...], float] = {}
        self.recomputed: dict[str, str] = {}  # what the last update computed again, and why
        self._changes_of_rules: dict[tuple[str, ...], RuleChanges] = {}
        self._before = normal, self.clauses

    def bootstrap(self, given: Mapping[str, ColumnFacts]) -> None:
        """Computes everything from the facts that are given."""
        constants = {name: _constant_facts(v, self.machine) for name, v in self.normal.constants.items()}
        facts = {**given, **constants}
        run = self._bootstrap(facts, {})
        try:
            for part in self.normal.parts:
                self._timed(part, run)
        finally:
            run.workers.close()
        for name, relation in run.store.items():
            relation.next_round()
            self.kept[name] = kept = Kept(relation)
            kept.start(run.rounds_of(name))
            if name in facts and len(facts[name]):
                kept.given[kept.find(facts[name].columns, len(facts[name]))] = True
        self._make_clauses()

    def restore(self, relations: Mapping[str, StoredRows], seconds: Mapping[str, float]) -> None:
        """Takes everything as it was kept. `seconds` are those of the strata, by the names of their relations."""
        for name, relation in self.normal.program.relations.items():
            self.kept[name] = kept = Kept(Relation(name, len(relation.columns)))
            kept.restore(relations[name])
        for part in self.normal.parts:
            self._seconds[part.stratum.relations] = seconds.get(" ".join(part.stratum.relations), 0.0)
        self._make_clauses()

    @property
    def seconds(self) -> dict[str, float]:
        """How long each stratum took to compute, as `restore` wants to know it."""
        return {" ".join(relations): seconds for relations, seconds in self._seconds.items()}

    def _make_clauses(self) -> None:
        for part in self.normal.parts:
            if part.has_clauses:
                self.clauses[part.stratum.relations] = [self._clause(part, rule) for rule in part.stratum.rules]

    def _bootstrap(self, facts: Mapping[str, ColumnFacts], known: Mapping[str, Relation]) -> Bootstrap:
        return Bootstrap(self.normal.program, facts, known, self.machine, self._threads, self._evaluation)

    def _timed(self, part: Part, run: Bootstrap) -> None:
        started = time.perf_counter()
        run.compute(part)
        self._seconds[part.stratum.relations] = time.perf_counter() - started

    def _clause(self, part: Part, rule: Rule) -> ClauseUpdate:
        clause = clause_of(rule, part.stratum.relations)
        instances = Instances(clause, self.kept, self._vectors, self._workers)
        return ClauseUpdate(rule, instances, ClauseRounds(clause, self.kept))

    # --- Updates ----------------------------------------------------------------------------------

    def update(
        self, deleted: Mapping[str, Columns], inserted: Mapping[str, Columns], normal: Normal | None = None
    ) -> None:
        """Takes facts out and in, and rules, if there is another version of the program. `keep` or `take_back` has to
        follow; until then, relations know both epochs."""
        self.recomputed = {}
        self._before = self.normal, self.clauses
        inserted = dict(inserted)
        if normal is not None:
            inserted |= self._change_program(normal)
        lost = {name: self._marked(name, columns, given=False) for name, columns in deleted.items()}
        gained = {name: self._marked(name, columns, given=True) for name, columns in inserted.items()}
        changed: dict[str, tuple[Array, Array]] = {}
        for part in self.normal.parts:
            own = self.computed_by(part)
            own_lost = {name: lost[name] for name in own if name in lost and lost[name].size}
            own_gained = {name: gained[name] for name in own if name in gained and gained[name].size}
            rules = self._changes_of_rules.get(part.stratum.relations, RuleChanges())
            below = {name: changed[name] for name in reads_of(part) | rules.reads() if name in changed}
            if not (below or own_lost or own_gained or rules.any()):
                continue
            if rules.why:
                self._compute_again(part, rules.why)
            elif part.again:
                self._compute_again(part, part.again)
            elif part.fold is not None:
                rows = {name: np.concatenate(pair) for name, pair in below.items()}
                fold = FoldUpdate(own[0], part.fold, self.kept, self._vectors, self._workers)
                fold.run(rows)
            else:
                below_lost = {name: pair[0] for name, pair in below.items()}
                below_gained = {name: pair[1] for name, pair in below.items()}
                self._update_stratum(part, below_lost | own_lost, below_gained | own_gained, rules)
            for name in own:
                pair = self.kept[name].lost_and_gained()
                if pair[0].size or pair[1].size:
                    changed[name] = pair

    def _update_stratum(
        self, part: Part, lost: Mapping[str, Array], gained: Mapping[str, Array], rules: RuleChanges
    ) -> None:
        relations = part.stratum.relations
        stay = [clause for clause in self.clauses[relations] if clause not in rules.gained]
        clauses = [*stay, *rules.lost, *rules.gained]
        for clause in rules.lost:
            clause.rounds.after = False
        for clause in rules.gained:
            clause.rounds.before = False
        update = StratumUpdate(self.kept, relations, clauses, self._alarm(relations))
        try:
            update.run(lost, gained, rules.lost, rules.gained)
        except OverBudget:
            for name in relations:
                self.kept[name].take_back_rounds()
            self._compute_again(part, "the update would have taken longer")

    def _alarm(self, relations: tuple[str, ...]) -> Callable[[], None]:
        if self.budget is None:
            return lambda: None
        end = time.perf_counter() + max(LEAST_SECONDS, self.budget * self._seconds.get(relations, 0.0))

        def tick() -> None:
            if time.perf_counter() > end:
                raise OverBudget

        return tick

    def _marked(self, name: str, columns: Columns, *, given: bool) -> Array:
        """Makes rows facts, or no longer; returns the places of those that were not, or were."""
        kept = self.kept[name]
        size = columns[0].size if len(columns) else 1
        rows: Array = np.unique(kept.enter(columns, size) if given else kept.find(columns, size))
        rows = rows[rows >= 0]
        rows = rows[kept.given[rows] != given]
        kept.set_given(rows, given)
        return rows

    def keep(self) -> None:
        """The update is done."""
        self._forget_others()
        for kept in self.kept.values():
            kept.keep()
        self._before = self.normal, self.clauses
        self._rules_are_settled()

    def take_back(self) -> None:
        """There was no update."""
        self.normal, self.clauses = self._before
        self._forget_others()
        for kept in self.kept.values():
            kept.take_back()
        self._rules_are_settled()

    def _forget_others(self) -> None:
        """Lets go of relations that are not in the program."""
        for name in self.kept.keys() - self.normal.program.relations.keys():
            del self.kept[name]

    def _rules_are_settled(self) -> None:
        for changes in self._changes_of_rules.values():
            for clause in (*changes.lost, *changes.gained):
                clause.rounds.before = clause.rounds.after = True
        self._changes_of_rules = {}

    def _change_program(self, normal: Normal) -> dict[str, Columns]:
        """Goes over to another version of the program; returns the constants that are new in it."""
        before = {part.stratum.relations: part for part in self.normal.parts}
        old_clauses, self.normal, self.clauses = self.clauses, normal, {}
        for name, relation in normal.program.relations.items():
            if name not in self.kept:
                self.kept[name] = Kept(Relation(name, len(relation.columns)))
        for part in normal.parts:
            relations = part.stratum.relations
            known, clauses = before.get(relations), old_clauses.get(relations, [])
            changes, current = changes_of(part, known, clauses, partial(self._clause, part))
            if part.has_clauses:
                self.clauses[relations] = current
            if changes.any():
                self._changes_of_rules[relations] = changes
        constants = {name: values for name, values in normal.constants.items() if not self.kept[name].size}
        return {name: _constant_facts(values, self.machine).columns for name, values in constants.items()}

    def computed_by(self, part: Part) -> list[str]:
        """The relations of a part, and those that show their rounds."""
        own = list(part.stratum.relations)
        return own + [r.name for r in self.normal.program.relations.values() if r.delta_of in own]

    # --- Computing again --------------------------------------------------------------------------

    def _compute_again(self, part: Part, why: str) -> None:
        """Computes a part from what it reads as that is now."""
        own = self.computed_by(part)
        self.recomputed |= dict.fromkeys(own, why)
        below = {name: self.kept[name] for name in reads_of(part)}
        whole = {name: kept.relation for name, kept in below.items() if kept.is_whole()}
        facts = {name: kept.facts(kept.present()) for name, kept in below.items() if name not in whole}
        for name in own:
            kept = self.kept[name]
            facts[name] = kept.facts(np.flatnonzero(kept.given[: kept.known]))
        run = self._bootstrap(facts, whole)
        try:
            self._timed(part, run)
        finally:
            run.workers.close()
        for name in own:
            kept, relation, rounds = self.kept[name], run.store[name], run.rounds_of(name)
            rows = kept.enter(relation.columns(), relation.size)
            gone = np.ones(kept.known, np.bool_)
            gone[rows] = False
            kept.set_round(np.flatnonzero(gone & (kept.new[: kept.known] != NEVER)), NEVER)
            others = kept.new[rows] != rounds
            kept.set_round(rows[others], rounds[others])
            kept.set_counts(rows, np.full(rows.size, UNKNOWN))


def _constant_facts(values: Values, machine: Machine) -> ColumnFacts:
    columns = encode(values.rows, tuple(column.kind for column in values.schema), machine)
    return ColumnFacts(tuple(columns), len(values.rows))

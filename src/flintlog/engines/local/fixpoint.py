"""Strata over columns of words, with kernels compiled by Numba."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.local.computed_nodes import Nodes
from flintlog.engines.local.equivalence import Equivalence
from flintlog.engines.local.filters import filter_levels
from flintlog.engines.local.grouping import grouped
from flintlog.engines.local.join_order import pinned_order
from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.row_strata import StoredRows, encode, run_by_rows
from flintlog.engines.local.rule_code import RuleCode
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.best_relation import BestRelation
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.storage.resources import Resources
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.memory import MemoryGuard
from flintlog.engines.protocol import Evaluation, Progress
from flintlog.engines.queries.best import Best, best_of
from flintlog.engines.queries.query import Query, Rows, query_of, recursive_rows
from flintlog.engines.queries.row_only import needs_rows
from flintlog.engines.queries.rule_versions import limit_reached
from flintlog.engines.reference.closures import Machine
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.ir.operations import EvaluationError
from flintlog.ir.program import Program, Rule, Stratum
from flintlog.types import Kind, Row

# Joins are ordered anew when a relation has grown by this factor, and is not small.
PLAN_AGAIN = 3
SMALL = 256
# With so many new rows, indexes are brought up to date side by side.
SIDE_BY_SIDE = 1 << 16


class ColumnarRun:
    """A run from some stratum on: `rows` are the facts, and the relations that earlier strata have computed."""

    def __init__(
        self,
        program: Program,
        rows: Mapping[str, Iterable[Row]],
        machine: Machine,
        threads: int,
        evaluation: Evaluation,
    ) -> None:
        self.program, self.machine, self.evaluation = program, machine, evaluation
        self.workers = Workers(threads)
        self.resources = Resources(MemoryGuard(evaluation.options.memory_limit), self.workers.in_parts)
        self.store = {n: Relation(n, len(r.columns), self.resources) for n, r in program.relations.items()}
        self.lent: frozenset[str] = frozenset()  # relations that stay when the run is over, and may change then
        for name, given in rows.items():
            _load(self.store[name], program.relations[name].kinds, given, machine)

    def run(self, strata: Iterable[Stratum]) -> Mapping[str, Collection[Row]]:
        try:
            for stratum in strata:
                self._stratum(stratum)
        finally:
            self.workers.close()
        for relation in self.store.values():
            relation.settle()
        return {n: StoredRows(self.store[n], r.kinds, self.machine) for n, r in self.program.relations.items()}

    def _stratum(self, stratum: Stratum) -> None:
        best = best_of(self.program, stratum)
        if best is not None:
            self._run_best(best, stratum)
        elif needs_rows(self.program, stratum):
            run_by_rows(self.program, stratum, self.store, self.machine)
        else:
            StratumRun(self, stratum).run()

    def _run_best(self, best: Best, stratum: Stratum, *, keeps_rounds: bool = False) -> BestRelation:
        before = self.store[best.relation]
        relation = BestRelation(before, best.position, best.sign, keeps_rounds=keeps_rounds)
        self.store[best.relation] = relation
        relation.insert([before.column(p, 0, before.size) for p in range(before.arity)], before.size)
        StratumRun(self, stratum).run()
        self.store[best.relation] = relation.settled()
        return relation


def _load(relation: Relation, kinds: tuple[Kind, ...], rows: Iterable[Row], machine: Machine) -> None:
    if isinstance(rows, ColumnFacts):
        relation.insert(words_of(rows, machine), len(rows))
    else:
        values = list(rows)
        relation.insert(encode(values, kinds, machine), len(values))
    relation.next_round()


def words_of(facts: ColumnFacts, machine: Machine) -> list[Array]:
    """The columns of facts as the machine's words."""
    return [_words(column, machine) for column in facts.columns]


def _words(column: Any, machine: Machine) -> Array:
    if isinstance(column, Symbols):
        numbers = np.array(machine.intern(column.texts), np.int64)
        return numbers[column.positions]
    words: Array = np.ascontiguousarray(column).view(np.int64)
    return words


class StratumRun:
    """One stratum: rules that run once, then rounds of recursive ones, each from every delta it reads."""

    def __init__(self, run: ColumnarRun, stratum: Stratum) -> None:
        self.program, self.stratum, self.store, self.machine = run.program, stratum, run.store, run.machine
        self.progress, self.reorder = run.evaluation.options.progress, run.evaluation.options.reorder
        self.workers, self.lent = run.workers, run.lent
        self.place = next(i for i, s in enumerate(run.program.strata, 1) if s is stratum)
        self.vectors = Vectors(run.machine)
        self.nodes = Nodes(
            self.vectors,
            run.store.__getitem__,
            lambda name, arity: Relation(name, arity, run.resources),
            self.workers,
            stratum.relations,
        )
        self.statistics = Statistics(self.nodes.stored)
        own = {name: run.program.relations[name] for name in stratum.relations}
        self.equivalences = [Equivalence(run.store[n]) for n, r in own.items() if r.representation == "eqrel"]

    def run(self, resume: int | None = None) -> None:
        """Runs the stratum, or goes on after round `resume` with what stands in its relations."""
        queries = [(rule, query_of(rule.body)) for rule in self.stratum.rules]
        own = self.stratum.relations
        self.machine.round = resume or 0
        for rule, query in queries:
            if resume is None and not recursive_rows(query, own):
                self._run(rule, self.pipeline(query, None, pinned_order(query, rule.plan, 0)))
        self._next_round()
        for name in self.stratum.relations:
            self.store[name].all_is_new()
        recursive = [_Recursive(rule, query, i, self) for rule, query in queries for i in recursive_rows(query, own)]
        while recursive and not self._limit_reached():
            for variant in recursive:
                if variant.has_work():
                    self._run(variant.rule, variant.pipeline())
            if not self._next_round() or self._limit_reached():
                break
            self.machine.round += 1

    def pipeline(self, query: Query, delta: int | None, pinned: Sequence[Rows] | None) -> Pipeline:
        plan = plan_query(query, delta, self.statistics if self.reorder else None, pinned)
        return Pipeline(plan, self.vectors, self.nodes.source, self.workers, self._tick, self if self.reorder else None)

    def filter(self, code: RuleCode) -> None:
        own, lent = self.stratum.relations, self.lent

        def may_filter(relation: str, other: str) -> bool:
            return other not in own and relation not in lent

        filter_levels(code, self.nodes.source, may_filter, self.statistics)

    def group(self, code: RuleCode, output: Sequence[str]) -> RuleCode | None:
        return grouped(code, output, self.nodes.source, self.statistics)

    def _run(self, rule: Rule, pipeline: Pipeline) -> None:
        self.machine.place = rule.span
        try:
            pipeline.run(self.store[rule.relation])
        except EvaluationError as error:
            raise FlintlogError([Diagnostic("E801", str(error), rule.span, error.note)]) from None

    def _limit_reached(self) -> bool:
        return limit_reached(self.program, self.stratum, lambda name: self.store[name].size)

    def _next_round(self) -> int:
        for equivalence in self.equivalences:
            equivalence.complete(self._tick)
        relations = [self.store[name] for name in self.stratum.relations]
        new = sum(relation.next_round() for relation in relations)
        self.nodes.next_round()
        if new >= SIDE_BY_SIDE:
            self.workers.each(index.sync for relation in relations for index in relation.indexes_in_use())
        self._tick()
        return new

    def _tick(self) -> None:
        """Says how far the run is."""
        name = max(self.stratum.relations, key=lambda name: self.store[name].size)
        rows = self.store[name].size
        self.progress(Progress(self.place, len(self.program.strata), self.machine.round, name, rows))


class _Recursive:
    """A rule with one of its literals reading the delta. Its joins are ordered anew when relations have grown."""

    def __init__(self, rule: Rule, query: Query, delta: int, run: StratumRun) -> None:
        self.rule, self._query, self._delta, self._run = rule, query, delta, run
        own = recursive_rows(query, run.stratum.relations)
        self._pinned = pinned_order(query, rule.plan, own.index(delta))
        self._reads = [run.store[str(query.literals[i].source)] for i in own]  # type: ignore[union-attr]
        self._source = run.store[str(query.literals[delta].source)]  # type: ignore[union-attr]
        self._limits = [0] * len(self._reads)
        self._pipeline: Pipeline | None = None

    def has_work(self) -> bool:
        return self._source.delta < self._source.visible

    def pipeline(self) -> Pipeline:
        grown = any(relation.visible > limit for relation, limit in zip(self._reads, self._limits, strict=True))
        if self._pipeline is None or grown:
            self._limits = [max(PLAN_AGAIN * relation.visible, SMALL) for relation in self._reads]
            self._pipeline = self._run.pipeline(self._query, self._delta, self._pinned)
        return self._pipeline

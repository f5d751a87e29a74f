"""The instances of a rule, combinations of rows that satisfy its body, found from rows of a literal or of the head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flintlog.engines.local.kernel_stage import KernelStage
from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Query
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.chosen_rows import ChosenRows
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.bindings import Bindings
from flintlog.incremental.rules.clause import Clause
from flintlog.ir.scalar import Scalar
from flintlog.ir.visit import columns_of

# A search is planned again when a relation has grown by this factor.
PLAN_AGAIN = 4


@dataclass
class Found:
    """Instances: for each literal the positions of its rows (-1: not in the log), and the columns of the heads."""

    rows: list[Array]
    head: list[Array]
    size: int

    def chosen(self, which: Any) -> Found:
        size = int(np.count_nonzero(which)) if which.dtype == np.bool_ else which.size
        return Found([rows[which] for rows in self.rows], [column[which] for column in self.head], size)


@dataclass(frozen=True)
class Search:
    """A search that kernels can run: how given rows bind variables, and the stage that joins the other literals; None
    if there are no others."""

    bindings: Bindings
    stage: KernelStage | None


@dataclass(frozen=True)
class _Made:
    """A pipeline, with the relations, and their sizes, for which it was planned."""

    pipeline: Pipeline
    relations: list[Relation]
    sizes: list[int]

    def fits(self, relations: Sequence[Relation]) -> bool:
        return all(
            now is before and now.visible <= PLAN_AGAIN * size + 64
            for now, before, size in zip(relations, self.relations, self.sizes, strict=True)
        )


@dataclass
class _Start:
    """The start of a search. Given rows bind the variables of a literal or of the head; `made` joins the rule's
    literals that read rows, except number `literal`."""

    literal: int | None
    bindings: Bindings
    made: _Made | None = None


class Instances:
    """Finds the instances of one clause among all rows of the logs, present or deleted: the rounds of their rows say
    which instances hold. Negated literals are not tested."""

    def __init__(self, clause: Clause, planner: Planner) -> None:
        self.clause, self._planner, self._relations = clause, planner, planner.relations
        needed = {name for literal in clause.literals for value in literal.values for name in columns_of(value)}
        needed |= {name for value in clause.output for name in columns_of(value)}
        kinds = {variable.name: variable for rows in clause.rows for variable in rows.variables}
        kinds |= {step.column.name: step.column for step in clause.steps if hasattr(step, "column")}
        self._variables = [kinds[name] for name in sorted(needed)]
        self._values = [[planner.vectors.column(value) for value in literal.values] for literal in clause.literals]
        self._output = [planner.vectors.column(value) for value in clause.output]
        self._literals: dict[int, _Start] = {}
        self._heads: dict[int | None, _Start] = {}
        self._everything = _Start(None, Bindings((), planner.machine))

    @property
    def machine(self) -> Machine:
        return self._planner.machine

    def at_literal(self, number: int, rows: ChosenRows) -> Iterator[Found]:
        """The instances that have one of `rows` at a literal, given by its number."""
        start = self._at_literal(number)
        for found in self._from(start, rows.columns, rows.size):
            yield found if start.bindings.is_exact else found.chosen(np.isin(found.rows[number], rows.positions))

    def of_head(self, rows: ChosenRows) -> Iterator[Found]:
        """The instances whose head is one of `rows`."""
        head, start = self._relations[self.clause.relation], self._of_head()
        for found in self._from(start, rows.columns, rows.size):
            if not start.bindings.is_exact:
                found = found.chosen(np.isin(head.find(found.head, found.size), rows.positions))
            yield found

    def like_head(self, rows: ChosenRows, but: int) -> Iterator[Found]:
        """The instances whose head agrees with one of `rows` except at position `but`; perhaps more."""
        columns = [column for position, column in enumerate(rows.columns) if position != but]
        yield from self._from(self._of_head(but), columns, rows.size)

    def all(self) -> Iterator[Found]:
        yield from self._from(self._everything, [], 1)

    def search(self, number: int | None) -> Search | None:
        """The search of `at_literal`, or of `of_head` without a `number`; None if kernels cannot run it."""
        start = self._of_head() if number is None else self._at_literal(number)
        if not start.bindings.is_exact:
            return None
        if start.literal is not None and len(self.clause.rows) == 1 and not self.clause.steps:
            return Search(start.bindings, None)  # nothing has to be planned
        stages = self._pipeline(start).stages
        if not stages:
            return Search(start.bindings, None)
        [stage, *others] = stages
        if others or not isinstance(stage, KernelStage) or not stage.begins_with_batch:
            return None
        return Search(start.bindings, stage)

    def rows_read(self) -> int:
        """The number of rows in the logs of all literals."""
        return sum(self._relations[literal.relation].rounds.known for literal in self.clause.literals)

    def preparations(self, but: int) -> Iterator[tuple[Callable[[], object], int]]:
        """Functions that plan the searches of an update of best values, each with the number of rows that it reads.
        Best values stand at position `but` of the head, so updates use `like_head`, too."""
        rows = self.rows_read()
        starts = [self._at_literal(number) for number in range(len(self.clause.literals))]
        for start in [*starts, *(self._of_head(position) for position in {None, but})]:
            yield partial(self._pipeline, start), rows

    # --- Where to start ---------------------------------------------------------------------------

    def _at_literal(self, number: int) -> _Start:
        start = self._literals.get(number)
        if start is None:
            literal = number if number < len(self.clause.rows) else None
            start = self._literals[number] = self._start(literal, self.clause.literals[number].values)
        return start

    def _of_head(self, but: int | None = None) -> _Start:
        start = self._heads.get(but)
        if start is None:
            output = [value for position, value in enumerate(self.clause.output) if position != but]
            start = self._heads[but] = self._start(None, output, is_whole=but is None)
        return start

    def _start(self, literal: int | None, values: Sequence[Scalar], *, is_whole: bool = True) -> _Start:
        return _Start(literal, Bindings(values, self._planner.machine, is_whole=is_whole))

    def _from(self, start: _Start, columns: Sequence[Array], size: int) -> Iterator[Found]:
        """The instances that match one of the rows; perhaps more, if the bindings are not exact."""
        batch, size = start.bindings.batch(columns, size)
        if not size:
            return
        for found, count in self._pipeline(start).bindings(batch, size):
            if count:
                yield self._found(found, count)

    def _found(self, batch: dict[str, Array], size: int) -> Found:
        rows = []
        for literal, values in zip(self.clause.literals, self._values, strict=True):
            columns = [value(batch, size) for value in values]
            rows.append(self._relations[literal.relation].find(columns, size))
        return Found(rows, [value(batch, size) for value in self._output], size)

    # --- Pipelines --------------------------------------------------------------------------------

    def _pipeline(self, start: _Start) -> Pipeline:
        relations = [self._planner.stored(rows.source) for rows in self.clause.rows]
        if start.made is None or not start.made.fits(relations):
            with self._planner.preparation:
                start.made = _Made(self._made(start), relations, [relation.visible for relation in relations])
        return start.made.pipeline

    def _made(self, start: _Start) -> Pipeline:
        rows = [literal for i, literal in enumerate(self.clause.rows) if i != start.literal]
        query = Query([*rows, *self.clause.steps], list(self._variables))
        pipeline = self._planner.pipeline(query, sorted(start.bindings.names))
        for literal in self.clause.literals:
            self._relations[literal.relation].places.sync()
        return pipeline

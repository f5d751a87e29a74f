"""The instances of a rule: all combinations of rows that its body allows, from rows of one place, or of its head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.query import Query
from flintlog.incremental.clause import Clause
from flintlog.incremental.kept import Kept
from flintlog.ir.relation import Node
from flintlog.ir.scalar import Column, Const, Scalar
from flintlog.ir.visit import columns_of

# Joins are ordered anew when a relation has grown by this factor.
PLAN_AGAIN = 4


@dataclass
class Found:
    """Instances: for each place of the clause where its row stands, -1 for one that never was, and the head's rows."""

    rows: list[Array]
    head: list[Array]
    size: int

    def chosen(self, which: Any) -> Found:
        size = int(np.count_nonzero(which)) if which.dtype == np.bool_ else which.size
        return Found([rows[which] for rows in self.rows], [column[which] for column in self.head], size)


@dataclass(frozen=True)
class _Made:
    """A pipeline, for relations that had so many rows."""

    pipeline: Pipeline
    relations: list[Relation]
    sizes: list[int]

    def fits(self, relations: Sequence[Relation]) -> bool:
        return all(
            now is before and now.visible <= PLAN_AGAIN * size + 64
            for now, before, size in zip(relations, self.relations, self.sizes, strict=True)
        )


class Instances:
    """Finds the instances of one clause over all rows that are kept, also over those that are not there now: whoever
    asks looks at their rounds. Absences are not tested either."""

    def __init__(
        self, clause: Clause, kept: Mapping[str, Kept], vectors: Vectors, workers: Workers, statistics: Statistics
    ) -> None:
        self.clause, self._kept, self._vectors, self._workers = clause, kept, vectors, workers
        self._statistics = statistics
        needed = {name for place in clause.places for value in place.values for name in columns_of(value)}
        needed |= {name for value in clause.output for name in columns_of(value)}
        kinds = {variable.name: variable for rows in clause.rows for variable in rows.variables}
        kinds |= {step.column.name: step.column for step in clause.steps if hasattr(step, "column")}
        self._variables = [kinds[name] for name in sorted(needed)]
        self._values = [[vectors.scalar(value) for value in place.values] for place in clause.places]
        self._output = [vectors.scalar(value) for value in clause.output]
        self._pipelines: dict[tuple[int, frozenset[str]], _Made] = {}

    def at_place(self, place: int, rows: Array) -> Iterator[Found]:
        """Those that have one of these rows at a place."""
        where = self.clause.places[place]
        wanted = self._kept[where.relation].columns(rows)
        for found in self._from(place, where.values, wanted, rows.size):
            yield found if not where.negated else found.chosen(np.isin(found.rows[place], rows))

    def of_head(self, rows: Array, but: int | None = None) -> Iterator[Found]:
        """Those that give one of these rows; or, but for one position, at least one like them, and maybe others."""
        head = self._kept[self.clause.relation]
        places = [place for place in range(len(self.clause.output)) if place != but]
        columns = head.columns(rows)
        output, wanted = [self.clause.output[p] for p in places], [columns[p] for p in places]
        for found in self._from(len(self.clause.places), output, wanted, rows.size):
            yield found.chosen(np.isin(head.find(found.head, found.size), rows)) if but is None else found

    def all(self) -> Iterator[Found]:
        yield from self._from(len(self.clause.places), (), [], 1)

    def _from(self, place: int, values: Sequence[Scalar], wanted: Sequence[Array], size: int) -> Iterator[Found]:
        """The instances in which some values are those of one of the rows that are wanted, and others: only what is
        plainly a variable or a constant is looked at."""
        batch, size = self._bound(values, wanted, size)
        if not size:
            return
        pipeline = self._pipeline(place, frozenset(batch))
        for found, count in pipeline.bindings(batch, size):
            if count:
                yield self._found(found, count)

    def _bound(self, values: Sequence[Scalar], wanted: Sequence[Array], size: int) -> tuple[dict[str, Array], int]:
        """What the variables among the values may be, each combination once."""
        keep = np.ones(size, np.bool_)
        batch: dict[str, Array] = {}
        for value, column in zip(values, wanted, strict=True):
            if isinstance(value, Const):
                keep &= column == self._vectors.machine.word(value.value, value.kind)
            elif isinstance(value, Column):
                known = batch.setdefault(value.name, column)
                if known is not column:
                    keep &= known == column
        if not batch:
            return {}, int(keep.any())
        if not keep.all():
            batch = {name: column[keep] for name, column in batch.items()}
            size = int(np.count_nonzero(keep))
        if size > 1 and len(batch) < len(wanted):
            distinct = np.unique(np.stack(list(batch.values())), axis=1)
            batch, size = dict(zip(batch, map(np.ascontiguousarray, distinct), strict=True)), distinct.shape[1]
        return batch, size

    def _found(self, batch: dict[str, Array], size: int) -> Found:
        rows = []
        for place, values in zip(self.clause.places, self._values, strict=True):
            columns = [full(value(batch, size), size) for value in values]
            rows.append(self._kept[place.relation].find(columns, size))
        return Found(rows, [full(value(batch, size), size) for value in self._output], size)

    # --- Pipelines --------------------------------------------------------------------------------

    def _pipeline(self, place: int, given: frozenset[str]) -> Pipeline:
        known = self._pipelines.get((place, given))
        relations = [self._source(rows.source) for rows in self.clause.rows]
        if known is not None and known.fits(relations):
            return known.pipeline
        rows = [literal for i, literal in enumerate(self.clause.rows) if i != place]
        query = Query([*rows, *self.clause.steps], list(self._variables))
        plan = plan_query(query, None, self._statistics, given=given)
        pipeline = Pipeline(plan, self._vectors, self._source, self._workers, given=sorted(given) if given else None)
        self._pipelines[place, given] = _Made(pipeline, relations, [relation.visible for relation in relations])
        return pipeline

    def _source(self, source: str | Node) -> Relation:
        assert isinstance(source, str)
        return self._kept[source].relation


def full(values: Any, size: int) -> Array:
    """An array of so many values, also of a constant."""
    return values if isinstance(values, np.ndarray) and values.ndim else np.full(size, values, np.int64)

"""Aggregates kept group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flintlog.engines.local.nodes import Nodes
from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.query import Query, Rows
from flintlog.incremental.kept import NEVER, Kept
from flintlog.ir.relation import Aggregate, Scan


class FoldUpdate:
    """An aggregate over scans, and the relation that has its rows."""

    def __init__(
        self, name: str, fold: Aggregate, kept: Mapping[str, Kept], vectors: Vectors, workers: Workers
    ) -> None:
        self._name, self._fold, self._kept, self._vectors, self._workers = name, fold, kept, vectors, workers
        self._sources = [source for source in (fold.input, fold.keys) if isinstance(source, Scan)]

    def run(self, changed: Mapping[str, Array]) -> None:
        """Computes the groups again to which rows belong that have come or gone."""
        fold = self._fold
        keys = self._affected(changed)
        current: dict[str, Relation] = {}
        for source in self._sources:
            kept = self._kept[source.relation]
            rows = self._with_keys(source, keys)
            rows = rows[kept.new[rows] != NEVER]
            relation = current[source.relation] = Relation(source.relation, len(source.schema))
            relation.insert(kept.columns(rows), rows.size)
            relation.next_round()
        nodes = Nodes(self._vectors, current.__getitem__, lambda name, arity: Relation(name, arity), self._workers)
        result = nodes.source(fold)
        kept = self._kept[self._name]
        before = self._with_keys(Scan(self._name, fold.schema), keys)
        after = kept.enter(result.columns(), result.size)
        kept.set_round(np.setdiff1d(before[kept.new[before] != NEVER], after), NEVER)
        kept.set_round(after[kept.new[after] == NEVER], 1)

    def _affected(self, changed: Mapping[str, Array]) -> list[Array]:
        """The keys of groups, each once."""
        keys: list[list[Array]] = []
        for source in self._sources:
            if source.relation in changed:
                columns = self._kept[source.relation].columns(changed[source.relation])
                named = dict(zip([column.name for column in source.schema], columns, strict=True))
                keys.append([named[by] for by in self._fold.by])
        affected = [np.concatenate(column) for column in zip(*keys, strict=True)]
        return list(map(np.ascontiguousarray, np.unique(np.stack(affected), axis=1))) if affected else []

    def _with_keys(self, scan: Scan, keys: Sequence[Array]) -> Array:
        """The places of the rows that have one of these keys, also of those that are not there."""
        kept, by = self._kept[scan.relation], self._fold.by
        query = Query([Rows(scan.relation, scan.schema)], list(scan.schema))
        plan = plan_query(query, None, None, given=by)
        pipeline = Pipeline(
            plan, self._vectors, lambda source: kept.relation, self._workers, given=list(by) if by else None
        )
        batch = dict(zip(by, keys, strict=True))
        found = [
            kept.find([bindings[column.name] for column in scan.schema], count)
            for bindings, count in pipeline.bindings(batch, keys[0].size if keys else 1)
            if count
        ]
        return np.concatenate(found) if found else np.empty(0, np.int64)

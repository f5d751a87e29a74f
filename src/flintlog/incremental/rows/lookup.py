"""The rows of a relation that have given values in some columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.queries.query import Query, Rows
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.preparation import Preparation
from flintlog.ir.scalar import Column


class Lookup:
    """Finds rows of one relation, whose columns have these names, by the columns `by`. `kept` has the rows: it need not
    be the same every time."""

    def __init__(
        self,
        kept: Callable[[], MaintainedRelation],
        schema: Sequence[Column],
        by: Sequence[str],
        vectors: Vectors,
        workers: Workers,
        preparation: Preparation,
    ) -> None:
        self._kept, self._schema, self._by = kept, schema, by
        self._vectors, self._workers, self._preparation = vectors, workers, preparation
        self._made: tuple[Relation, Pipeline] | None = None

    def places(self, keys: Sequence[Array]) -> Array:
        """The places of rows that have one of these keys, also of those that are not there now."""
        batch = dict(zip(self._by, keys, strict=True))
        found = [
            self._kept().find([bindings[column.name] for column in self._schema], count)
            for bindings, count in self._pipeline().bindings(batch, keys[0].size if keys else 1)
            if count
        ]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def preparations(self) -> Iterator[tuple[Callable[[], object], int]]:
        """What makes ready what `places` needs, with the rows it looks at."""
        yield self._pipeline, self._kept().known

    def _pipeline(self) -> Pipeline:
        relation = self._kept().relation
        if self._made is None or self._made[0] is not relation:
            with self._preparation:
                query = Query([Rows(relation.name, tuple(self._schema))], list(self._schema))
                plan = plan_query(query, None, None, given=self._by)
                given = list(self._by) if self._by else None
                pipeline = Pipeline(plan, self._vectors, lambda source: relation, self._workers, given=given)
                pipeline.prepare()
                self._kept().places.sync()
                self._made = relation, pipeline
        return self._made[1]

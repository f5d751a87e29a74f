"""Look-ups of rows by their values in some columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Query, Rows
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.planner import Planner
from flintlog.ir.scalar import Column


class Lookup:
    """Finds rows of one relation, whose columns are those of `schema`, by the columns `by`. `current` gives the
    relation: an update may replace it."""

    def __init__(
        self, current: Callable[[], MaintainedRelation], schema: Sequence[Column], by: Sequence[str], planner: Planner
    ) -> None:
        self._current, self._schema, self._by, self._planner = current, schema, by, planner
        self._made: tuple[Relation, Pipeline] | None = None

    def positions(self, keys: Sequence[Array]) -> Array:
        """The positions of all rows in the log that have one of these keys, whether they hold now or not."""
        batch = dict(zip(self._by, keys, strict=True))
        found = [
            self._current().find([bindings[column.name] for column in self._schema], count)
            for bindings, count in self._pipeline().bindings(batch, keys[0].size if keys else 1)
            if count
        ]
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def preparations(self) -> Iterator[tuple[Callable[[], object], int]]:
        """The preparation of `positions`, and how many rows it reads."""
        yield self._pipeline, self._current().rounds.known

    def _pipeline(self) -> Pipeline:
        relation = self._current().relation
        if self._made is None or self._made[0] is not relation:
            with self._planner.preparation:
                query = Query([Rows(relation.name, tuple(self._schema))], list(self._schema))
                pipeline = self._planner.pipeline(query, self._by, lambda source: relation)
                self._current().places.sync()
                self._made = relation, pipeline
        return self._made[1]

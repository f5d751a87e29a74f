"""The planner of a state: it makes the pipelines by which rows of relations, and instances of rules, are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.queries.query import Query
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.preparation import Preparation
from flintlog.ir.nodes import Node


class Planner:
    """Plans over the current `relations` of a state. `preparation` is the time that all plans took."""

    def __init__(self, machine: Machine, relations: Mapping[str, MaintainedRelation]) -> None:
        self.machine, self.relations = machine, relations
        self.vectors, self.workers, self.preparation = Vectors(machine), Workers(1), Preparation()
        # Samples of the relations: all rules share them until the update ends.
        self.statistics = Statistics(lambda rows: self.stored(rows.source))

    def stored(self, source: str | Node) -> Relation:
        assert isinstance(source, str)
        return self.relations[source].relation

    def pipeline(
        self, query: Query, given: Sequence[str], read: Callable[[str | Node], Relation] | None = None
    ) -> Pipeline:
        """A pipeline from values of the variables `given` to the query's output. `read` finds relations that are not
        those of the state; these have no statistics."""
        plan = plan_query(query, None, None if read else self.statistics, given=given)
        pipeline = Pipeline(plan, self.vectors, read or self.stored, self.workers, given=list(given) or None)
        pipeline.prepare()
        return pipeline

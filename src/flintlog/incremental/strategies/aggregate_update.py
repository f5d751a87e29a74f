"""The update of an aggregate: groups with changed rows are computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from flintlog.engines.local.computed_nodes import Nodes
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows.distinct import distinct
from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rows.planner import Planner
from flintlog.ir.nodes import Aggregate, Scan


class AggregateUpdate:
    """An aggregate over scans; the relation `name` has its rows."""

    def __init__(self, name: str, fold: Aggregate, planner: Planner) -> None:
        self._name, self._fold, self._planner, self._relations = name, fold, planner, planner.relations
        self._sources = [source for source in (fold.input, fold.keys) if isinstance(source, Scan)]
        scans = (*self._sources, Scan(name, fold.schema))
        self._by_keys = [self._by_key(scan) for scan in scans]

    def _by_key(self, scan: Scan) -> Lookup:
        return Lookup(lambda: self._relations[scan.relation], scan.schema, self._fold.by, self._planner)

    def preparations(self) -> Iterator[tuple[Callable[[], object], int]]:
        """The preparations of `run`, each with the number of rows that it reads."""
        for by_key in self._by_keys:
            yield from by_key.preparations()

    def run(self, keys: list[Array]) -> None:
        """Computes the groups of these keys again."""
        fold = self._fold
        current = {source.relation: Relation(source.relation, len(source.schema)) for source in self._sources}
        for source, by_keys in zip(self._sources, self._by_keys, strict=False):
            relation, groups = self._relations[source.relation], current[source.relation]
            rows = by_keys.positions(keys)
            rows = rows[relation.rounds.new[rows] != NEVER]
            groups.insert(relation.columns(rows), rows.size)
            groups.next_round()
        planner = self._planner
        nodes = Nodes(planner.vectors, current.__getitem__, lambda name, arity: Relation(name, arity), planner.workers)
        result = nodes.source(fold)
        relation = self._relations[self._name]
        before = self._by_keys[-1].positions(keys)
        after = relation.enter(result.columns(), result.size)
        relation.rounds.set_round(np.setdiff1d(before[relation.rounds.new[before] != NEVER], after), NEVER)
        relation.rounds.set_round(after[relation.rounds.new[after] == NEVER], 1)

    def rows(self, keys: list[Array]) -> float:
        """An estimate of the rows in the groups of these keys, if rows of the groups have changed: large groups change
        more often."""
        result = 0.0
        for source in self._sources:
            names, relation = [column.name for column in source.schema], self._relations[source.relation]
            key = tuple(names.index(by) for by in self._fold.by)
            group = self._planner.statistics.group_size(relation.relation, key)
            result += min(relation.rounds.size, keys[0].size * group)
        return result

    def affected(self, changed: Mapping[str, Array]) -> list[Array]:
        """The keys of the groups that have changed rows, each once."""
        keys: list[list[Array]] = []
        for source in self._sources:
            if source.relation in changed:
                columns = self._relations[source.relation].columns(changed[source.relation])
                named = dict(zip([column.name for column in source.schema], columns, strict=True))
                keys.append([named[by] for by in self._fold.by])
        affected = [np.concatenate(column) for column in zip(*keys, strict=True)]
        return distinct(affected) if affected else []

"""Aggregates kept group by group."""

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
    """An aggregate over scans, and the relation that has its rows."""

    def __init__(self, name: str, fold: Aggregate, planner: Planner) -> None:
        self._name, self._fold, self._planner, self._relations = name, fold, planner, planner.relations
        self._sources = [source for source in (fold.input, fold.keys) if isinstance(source, Scan)]
        scans = (*self._sources, Scan(name, fold.schema))
        self._by_keys = [self._by_key(scan) for scan in scans]

    def _by_key(self, scan: Scan) -> Lookup:
        return Lookup(lambda: self._relations[scan.relation], scan.schema, self._fold.by, self._planner)

    def preparations(self) -> Iterator[tuple[Callable[[], object], int]]:
        """What makes ready what `run` needs, with the rows it looks at."""
        for by_key in self._by_keys:
            yield from by_key.preparations()

    def run(self, keys: list[Array]) -> None:
        """Computes some groups again."""
        fold = self._fold
        current = {source.relation: Relation(source.relation, len(source.schema)) for source in self._sources}
        for source, by_keys in zip(self._sources, self._by_keys, strict=False):
            kept, relation = self._relations[source.relation], current[source.relation]
            rows = by_keys.positions(keys)
            rows = rows[kept.rounds.new[rows] != NEVER]
            relation.insert(kept.columns(rows), rows.size)
            relation.next_round()
        planner = self._planner
        nodes = Nodes(planner.vectors, current.__getitem__, lambda name, arity: Relation(name, arity), planner.workers)
        result = nodes.source(fold)
        kept = self._relations[self._name]
        before = self._by_keys[-1].positions(keys)
        after = kept.enter(result.columns(), result.size)
        kept.rounds.set_round(np.setdiff1d(before[kept.rounds.new[before] != NEVER], after), NEVER)
        kept.rounds.set_round(after[kept.rounds.new[after] == NEVER], 1)

    def rows(self, keys: list[Array]) -> float:
        """About how many rows belong to some groups, if rows of them have changed: large groups change more often."""
        result = 0.0
        for source in self._sources:
            names, kept = [column.name for column in source.schema], self._relations[source.relation]
            group = self._planner.statistics.group_size(kept.relation, tuple(names.index(by) for by in self._fold.by))
            result += min(kept.rounds.size, keys[0].size * group)
        return result

    def affected(self, changed: Mapping[str, Array]) -> list[Array]:
        """The keys of the groups to which rows belong that have come or gone, each once."""
        keys: list[list[Array]] = []
        for source in self._sources:
            if source.relation in changed:
                columns = self._relations[source.relation].columns(changed[source.relation])
                named = dict(zip([column.name for column in source.schema], columns, strict=True))
                keys.append([named[by] for by in self._fold.by])
        affected = [np.concatenate(column) for column in zip(*keys, strict=True)]
        return distinct(affected) if affected else []

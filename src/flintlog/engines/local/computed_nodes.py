"""Nodes that are computed beforehand: constants, aggregates, and whatever stands under a negation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import plan_query
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.local.storage.numbering import Groups, groups_of
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Vectors
from flintlog.engines.local.workers import Workers
from flintlog.engines.queries.query import Rows, query_of
from flintlog.ir.nodes import Aggregate, ConcatAll, Fold, Node, Scan, Values
from flintlog.ir.operations import fold_values
from flintlog.ir.visit import relations_of
from flintlog.types import Kind

_FOLDS: dict[str, tuple[int, np.ufunc]] = {
    "sum": (0, np.add),
    "min": ((1 << 63) - 1, np.minimum),
    "max": (-(1 << 63), np.maximum),
}


class Nodes:
    """Computes nodes to relations. `relation` gives the stored ones by name, `create` a new one of some arity;
    `growing` are those that rounds add to."""

    def __init__(
        self,
        vectors: Vectors,
        relation: Callable[[str], Relation],
        create: Callable[[str, int], Relation],
        workers: Workers,
        growing: Iterable[str] = (),
    ) -> None:
        self.vectors, self.relation, self.create, self.workers = vectors, relation, create, workers
        self.growing = frozenset(growing)
        self._kept: dict[int, Relation] = {}
        self._passing: set[int] = set()

    def source(self, source: str | Node) -> Relation:
        """A stored relation, or a node's rows; those of a node that reads growing relations are kept for a round."""
        if isinstance(source, str):
            return self.relation(source)
        if isinstance(source, Scan):
            return self.relation(source.relation)
        kept = self._kept.get(id(source))
        if kept is None:
            kept = self._kept[id(source)] = self._compute(source)
            kept.next_round()
            if self.growing & relations_of(source, {}):
                self._passing.add(id(source))
        return kept

    def next_round(self) -> None:
        """The groups of an aggregate in a recursive rule come from the stratum's own relations, which have grown."""
        for passing in self._passing:
            del self._kept[passing]
        self._passing.clear()

    def stored(self, rows: Rows) -> Relation | None:
        """The relation a literal reads, if it is there already."""
        return self.relation(rows.source) if isinstance(rows.source, str) else self._kept.get(id(rows.source))

    def _compute(self, node: Node) -> Relation:
        result = self.create("", len(node.schema))
        match node:
            case Values():
                words = [
                    np.array([self.vectors.machine.word(row[i], c.kind) for row in node.rows], np.int64)
                    for i, c in enumerate(node.schema)
                ]
                result.insert(words, len(node.rows))
            case ConcatAll():
                for part in node.inputs:
                    rows = self.source(part)
                    result.insert(rows.columns(), rows.size)
            case Aggregate():
                self._aggregate(node, result)
            case _:
                plan = plan_query(query_of(node), None, Statistics(self.stored))
                Pipeline(plan, self.vectors, self.source, self.workers).run(result)
        return result

    def _aggregate(self, node: Aggregate, result: Relation) -> None:
        rows = self.source(node.input)
        columns = dict(zip([c.name for c in node.input.schema], rows.columns(), strict=True))
        groups = groups_of([columns[name] for name in node.by], rows.size)
        values = None
        if node.fold.value is not None and rows.size:
            values = self.vectors.column(node.fold.value)(columns, rows.size)
        if node.keys is None:
            keys, found = groups.keys, np.arange(groups.count)
        else:
            wanted = self.source(node.keys)
            keys = wanted.columns()
            found = groups.find(keys, wanted.size)
        init = None
        if node.fold.init is not None:
            outer = dict(zip(node.by, keys, strict=True))
            init = np.broadcast_to(self.vectors.scalar(node.fold.init)(outer, found.size), found.size)
        folded = self._fold(node.fold, groups, values, init, found)
        if isinstance(folded, list):
            keep = np.array([f is not None for f in folded], np.bool_)
            keys = [key[keep] for key in keys]
            folded = np.array([f for f in folded if f is not None], np.int64)
        result.insert([*keys, folded], folded.size)

    def _fold(
        self, fold: Fold, groups: Groups, values: Array | None, init: Array | None, found: Array
    ) -> Array | list[int | None]:
        """The fold's word for each wanted group (`found`, -1 for an empty one); None where it has no value."""
        if fold.op == "count":
            sizes = np.append(np.bincount(groups.numbers, minlength=groups.count), 0)
            return sizes[found]
        kind = fold.value.kind if fold.value is not None else fold.kind
        whole = kind is Kind.NUMBER and self.vectors.whole_words and fold.op in ("sum", "min", "max")
        if whole and (fold.op == "sum" or bool((found >= 0).all())):
            start, combine = _FOLDS[fold.op]
            folded = np.full(groups.count + 1, start, np.int64)
            if values is not None and values.size:
                combine.at(folded, groups.numbers, values)
            folded[-1] = 0  # of an empty group
            return folded[found]
        return self._fold_values(fold, groups.numbers, values, kind, init, found)

    def _fold_values(
        self, fold: Fold, groups: Array, values: Array | None, kind: Kind, init: Array | None, found: Array
    ) -> list[int | None]:
        machine = self.vectors.machine
        members: dict[int, list[Any]] = {}
        if values is not None:
            for group, word in zip(groups.tolist(), values.tolist(), strict=True):
                members.setdefault(group, []).append(machine.value(word, kind))
        folded: list[int | None] = []
        for i, group in enumerate(found.tolist()):
            items = members.get(group, [])
            if not items and not fold.has_default:
                folded.append(None)
            elif init is not None:
                total = machine.value(int(init[i]), fold.kind)
                for item in items:
                    total = machine.functions[fold.op[1:]](total, item)
                folded.append(machine.word(total, fold.kind))
            else:
                folded.append(machine.word(fold_values(fold.op, items, fold.kind, machine.words), fold.kind))
        return folded

"""Computes the rows of relational nodes with Python sets and dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from flintlog.diagnostics import InternalError
from flintlog.engines.reference.closures import Machine, Pipeline, key_at
from flintlog.engines.reference.meter import Meter
from flintlog.engines.reference.table import Table, group
from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    JoinFlatMap,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Shared,
    Unit,
    Values,
)
from flintlog.ir.operations import fold_values
from flintlog.ir.scalar import Column
from flintlog.types import Row


class NodeRows:
    """Evaluates nodes over tables. While `delta_scan` is set, that scan reads only `delta`, the last round's new rows;
    all other scans read everything. Shared subplans must not read tables that change. With `sorted_scans`, rows come in
    the order of their words: choices depend on the order of rows, and must not change from run to run."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        shared: Mapping[int, Node],
        machine: Machine,
        *,
        sorted_scans: bool,
        meter: Meter | None = None,
    ) -> None:
        self.tables, self.shared, self.machine, self.sorted = tables, shared, machine, sorted_scans
        self.meter = meter
        self.delta: dict[str, list[Row]] = {}
        self.delta_scan: Scan | None = None
        self._pipelines: dict[int, Pipeline] = {}
        self._kept: dict[int, list[Row]] = {}

    def rows(self, node: Node) -> Iterable[Row]:
        """The rows a node denotes, each once."""
        match node:
            case Unit():
                return [()]
            case Values():
                return node.rows
            case Scan():
                return self._scan(node)
            case FlatMap():
                return self._flat_map(node, self._metered(self.rows(node.input)), node.input.schema)
            case JoinFlatMap():
                return self._flat_map(node, self._metered(self._joined(node)), node.joined)
            case SemiJoin() | AntiJoin():
                left_key = key_at(positions(node.left, node.on))
                known = self._index(node.right, positions(node.right, node.on))
                wanted = isinstance(node, SemiJoin)
                return [row for row in self.rows(node.left) if (left_key(row) in known) is wanted]
            case Aggregate():
                return self._aggregate(node)
            case ConcatAll():
                return dict.fromkeys(row for part in node.inputs for row in self.rows(part))
            case Shared():
                return self._shared(node.id)
        raise InternalError("naive", f"unknown node {node!r}")

    def _shared(self, id: int) -> list[Row]:
        """A subplan's rows, computed once: it reads no relation that grows."""
        rows = self._kept.get(id)
        if rows is None:
            rows = self._kept[id] = list(self.rows(self.shared[id]))
        return rows

    def _metered(self, rows: Iterable[Row]) -> Iterable[Row]:
        return rows if self.meter is None else self.meter.rows(rows)

    def _scan(self, node: Scan) -> Iterable[Row]:
        rows = self.delta[node.relation] if node is self.delta_scan else list(self.tables[node.relation].rows)
        if self.sorted:
            rows = sorted(
                rows, key=lambda r: [self.machine.word(v, c.kind) for v, c in zip(r, node.schema, strict=True)]
            )
        return rows

    def _flat_map(self, node: FlatMap | JoinFlatMap, rows: Iterable[Row], schema: Schema) -> Iterable[Row]:
        pipeline = self._pipelines.get(id(node))
        if pipeline is None:
            pipeline = self.machine.pipeline(schema, node.steps, node.output)
            told_apart = {column.name for column in schema} | {s.column.name for s in node.steps if isinstance(s, Each)}
            if told_apart - {value.name for _, value in node.output if isinstance(value, Column)}:
                pipeline = partial(_distinct, pipeline)  # a projection may make two rows equal; a filter cannot
            self._pipelines[id(node)] = pipeline
        return pipeline(rows)

    def _joined(self, node: JoinFlatMap) -> Iterator[Row]:
        left, right = node.left, node.right
        at_left, at_right = positions(left, node.on), positions(right, node.on)
        left_key, right_key = key_at(at_left), key_at(at_right)
        rest = key_at(tuple(i for i in range(len(right.schema)) if i not in at_right))
        if isinstance(left, Scan) and right is self.delta_scan and not self.sorted:
            # The relation's index finds the partners of the few new rows.
            index = self._index(left, at_left)
            return (a + rest(b) for b in self.rows(right) for a in index.get(right_key(b), ()))
        index = self._index(right, at_right)
        return (a + rest(b) for a in self.rows(left) for b in index.get(left_key(a), ()))

    def _index(self, node: Node, at: tuple[int, ...]) -> dict[Row, list[Row]]:
        if isinstance(node, Scan) and node is not self.delta_scan and not self.sorted:
            return self.tables[node.relation].index(at)
        return group(self.rows(node), at)

    def _aggregate(self, node: Aggregate) -> list[Row]:
        delta_scan, self.delta_scan = self.delta_scan, None
        groups = group(self.rows(node.input), positions(node.input, node.by))
        keys = groups.keys() if node.keys is None else dict.fromkeys(self.rows(node.keys))
        self.delta_scan = delta_scan
        at = {column.name: i for i, column in enumerate(node.input.schema)}
        fold, machine = node.fold, self.machine
        value = machine.scalar(fold.value, at) if fold.value is not None else lambda row: None
        result: list[Row] = []
        for key in keys:
            values = [value(row) for row in groups.get(key, ())]
            if not values and not fold.has_default:
                continue
            if fold.op.startswith("@"):
                assert fold.init is not None
                total = machine.scalar(fold.init, {name: i for i, name in enumerate(node.by)})(key)
                for item in values:
                    total = machine.functions[fold.op[1:]](total, item)
            else:
                total = fold_values(fold.op, values, fold.kind, machine.words)
            result.append((*key, total))
        return result


def _distinct(pipeline: Pipeline, rows: Iterable[Row]) -> Iterable[Row]:
    return dict.fromkeys(pipeline(rows))


def positions(node: Node, names: tuple[str, ...]) -> tuple[int, ...]:
    at = {column.name: i for i, column in enumerate(node.schema)}
    return tuple([at[name] for name in names])

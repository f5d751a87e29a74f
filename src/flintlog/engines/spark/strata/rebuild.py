"""A query -> a tree of relational nodes again: what `query.query_of` undoes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flintlog.engines.queries.query import Absent, Literal, Query, Rows
from flintlog.ir.nodes import AntiJoin, Each, FlatMap, JoinFlatMap, Let, Node, Scan, SemiJoin, Unit, Where
from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.ir.visit import rewrite_condition, rewrite_scalar

Output = tuple[tuple[str, Scalar], ...]


def node_of(query: Query, names: Sequence[str]) -> Node:
    """The rows of a query, its output under these names: joins in the order of its literals, each of which has what it
    needs bound before it."""
    tree = _Tree()
    for literal in query.literals:
        tree.add(literal)
    output = tuple((name, tree.scalar(value)) for name, value in zip(names, query.output, strict=True))
    return FlatMap(tree.node, (), output)


@dataclass
class _Tree:
    node: Node = field(default_factory=Unit)
    last: int = 0

    def add(self, literal: Literal) -> None:
        match literal:
            case Rows():
                self._join(literal)
            case Absent():
                self._test(literal)
            case Where(condition):
                self._step(Where(rewrite_condition(condition, self._renamed)))
            case Let(column, value) if self._is_bound(column):
                self._step(Where(Compare("=", _plain(column), self.scalar(value))))
            case Let(column, value):
                self._step(Let(_plain(column), self.scalar(value)))
            case Each(column, bounds) if self._is_bound(column):
                each = self._fresh(column)
                self._step(Each(each, tuple(self.scalar(b) for b in bounds)))
                self._step(Where(Compare("=", _plain(column), each)))
            case Each(column, bounds):
                self._step(Each(_plain(column), tuple(self.scalar(b) for b in bounds)))

    def scalar(self, scalar: Scalar) -> Scalar:
        return rewrite_scalar(scalar, self._renamed)

    def _renamed(self, scalar: Scalar) -> Scalar:
        return _plain(scalar) if isinstance(scalar, Column) else scalar

    def _is_bound(self, column: Column) -> bool:
        return any(known.name == _plain(column).name for known in self.node.schema)

    def _fresh(self, like: Column) -> Column:
        self.last += 1
        return Column(f"other{self.last}", like.kind)  # no variable's name: those end in an underscore and a number

    def _step(self, step: Where | Let | Each) -> None:
        columns = self.node.schema if isinstance(step, Where) else (*self.node.schema, step.column)
        self.node = FlatMap(self.node, (step,), _as_they_are(columns))

    def _join(self, rows: Rows) -> None:
        schema: list[Column] = []
        tests: list[Where] = []
        for variable in rows.variables:
            column = _plain(variable)
            if column in schema:
                again = self._fresh(column)
                tests.append(Where(Compare("=", column, again)))
                column = again
            schema.append(column)
        right: Node
        if isinstance(rows.source, str):
            right = Scan(rows.source, tuple(schema))
        else:
            pairs = zip(schema, rows.source.schema, strict=True)
            right = FlatMap(rows.source, (), tuple((here.name, there) for here, there in pairs))
        names = {column.name for column in self.node.schema}
        on = tuple(column.name for column in schema if column.name in names)
        columns = (*self.node.schema, *(c for c in schema if c.name not in names))
        if isinstance(self.node, Unit):
            self.node = FlatMap(right, tuple(tests), _as_they_are(columns)) if tests else right
        else:
            self.node = JoinFlatMap(self.node, right, on, tuple(tests), _as_they_are(columns))

    def _test(self, literal: Absent) -> None:
        there = {column.name: column for column in literal.node.schema}
        keys = [self._fresh(Column("key", there[name].kind)) for name in literal.on]
        before = _as_they_are(self.node.schema)
        steps = tuple(Let(key, self.scalar(value)) for key, value in zip(keys, literal.values, strict=True))
        left = FlatMap(self.node, steps, (*before, *_as_they_are(keys))) if keys else self.node
        right = self._keyed(literal.node, dict(zip(literal.on, keys, strict=True)))
        kind = SemiJoin if literal.wanted else AntiJoin
        tested = kind(left, right, tuple(key.name for key in keys))
        self.node = FlatMap(tested, (), before)

    def _keyed(self, node: Node, keys: dict[str, Column]) -> Node:
        """The node with its columns under the names of keys. A scan stays one: its relation has indexes."""
        if isinstance(node, Scan):
            return Scan(node.relation, tuple(keys.get(c.name) or self._fresh(c) for c in node.schema))
        there = {column.name: column for column in node.schema}
        return FlatMap(node, (), tuple((key.name, there[name]) for name, key in keys.items()))


def _plain(column: Column) -> Column:
    """A query's variables have names that the text form of a program would not take."""
    return Column(column.name.replace(".", "_"), column.kind)


def _as_they_are(columns: Sequence[Column]) -> Output:
    return tuple((column.name, column) for column in columns)

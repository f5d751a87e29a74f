"""Makes a conjunctive query of a rule's tree: literals over variables, which may run in any order.

A tree fixes an order of joins; a query has none, so that a planner can start at the delta.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from flintlog.diagnostics import InternalError
from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    SemiJoin,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.ir.visit import columns_of, relations_of, rewrite_condition, rewrite_scalar, terms_of


@dataclass(frozen=True, eq=False)
class Rows:
    """The variables have the values of a row of a relation, or of a node that is computed beforehand. `scan` is the
    origin of the literal in the tree."""

    source: str | Node
    variables: tuple[Column, ...]
    scan: Scan | None = None


@dataclass(frozen=True, eq=False)
class Absent:
    """No row of the node has these values in the columns `on`; with `wanted`, some row has."""

    node: Node
    on: tuple[str, ...]
    values: tuple[Scalar, ...]
    wanted: bool = False


Literal: TypeAlias = Rows | Absent | Step


@dataclass
class Query:
    """`output` has the head's columns in order."""

    literals: list[Literal] = field(default_factory=list)
    output: list[Scalar] = field(default_factory=list)


def query_of(node: Node) -> Query:
    """The query for a node's rows. It may give rows several times that the node has once."""
    builder = _Builder()
    names = builder.visit(node)
    return Query(
        [builder.resolved(literal) for literal in builder.literals],
        [builder.scalar(names[column.name]) for column in node.schema],
    )


def reads(literal: Literal) -> frozenset[str]:
    """The variables a literal needs to be bound before it can run, unless it is Rows."""
    match literal:
        case Absent():
            return frozenset(name for value in literal.values for name in columns_of(value))
        case Rows():
            return frozenset()
        case _:
            return frozenset(name for term in terms_of(literal) for name in columns_of(term))


def mentions(literal: Literal) -> frozenset[str]:
    """All variables of a literal."""
    match literal:
        case Rows():
            return frozenset(variable.name for variable in literal.variables)
        case Let() | Each():
            return reads(literal) | {literal.column.name}
        case _:
            return reads(literal)


class _Builder:
    def __init__(self) -> None:
        self.literals: list[Literal] = []
        self.same: dict[str, Column] = {}  # variables that turned out to be others
        self.last = 0

    def variable(self, like: Column) -> Column:
        self.last += 1
        return Column(f"{like.name}.{self.last}", like.kind)

    def scalar(self, scalar: Scalar) -> Scalar:
        return rewrite_scalar(scalar, self._resolve)

    def _resolve(self, scalar: Scalar) -> Scalar:
        while isinstance(scalar, Column) and scalar.name in self.same:
            scalar = self.same[scalar.name]
        return scalar

    def resolved(self, literal: Literal) -> Literal:
        match literal:
            case Rows():
                variables = tuple(_column(self._resolve(v)) for v in literal.variables)
                return replace(literal, variables=variables)
            case Absent():
                return replace(literal, values=tuple(self.scalar(v) for v in literal.values))
            case Where(condition):
                return Where(rewrite_condition(condition, self._resolve))
            case Let(column, value):
                return Let(_column(self._resolve(column)), self.scalar(value))
            case Each(column, bounds):
                return Each(_column(self._resolve(column)), tuple(self.scalar(b) for b in bounds))

    def visit(self, node: Node) -> dict[str, Scalar]:
        """Adds the node's literals; returns what each of its columns is in terms of variables."""
        match node:
            case Unit():
                return {}
            case Scan():
                return self._rows(node.relation, node.schema, node)
            case Values() | Aggregate() | ConcatAll():
                return self._rows(node, node.schema, None)
            case FlatMap():
                return self._steps(self.visit(node.input), node.steps, node.output)
            case JoinFlatMap():
                names = self.visit(node.left)
                for name, value in self.visit(node.right).items():
                    if name in node.on:
                        self._unify(names[name], value)
                    else:
                        names[name] = value
                return self._steps(names, node.steps, node.output)
            case AntiJoin() | SemiJoin():
                names = self.visit(node.left)
                values = tuple(names[name] for name in node.on)
                self.literals.append(Absent(node.right, node.on, values, isinstance(node, SemiJoin)))
                return names
        raise InternalError("query", f"no query for {type(node).__name__}")

    def _rows(self, source: str | Node, schema: Sequence[Column], scan: Scan | None) -> dict[str, Scalar]:
        variables = tuple(self.variable(column) for column in schema)
        self.literals.append(Rows(source, variables, scan))
        return {column.name: variable for column, variable in zip(schema, variables, strict=True)}

    def _steps(
        self, names: dict[str, Scalar], steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]
    ) -> dict[str, Scalar]:
        def rename(scalar: Scalar) -> Scalar:
            return names[scalar.name] if isinstance(scalar, Column) else scalar

        names = dict(names)
        for step in steps:
            match step:
                case Where(condition):
                    self.literals.append(Where(rewrite_condition(condition, rename)))
                case Let(column, value):
                    variable = self.variable(column)
                    self.literals.append(Let(variable, rewrite_scalar(value, rename)))
                    names[column.name] = variable
                case Each(column, bounds):
                    variable = self.variable(column)
                    self.literals.append(Each(variable, tuple(rewrite_scalar(b, rename) for b in bounds)))
                    names[column.name] = variable
        return {name: rewrite_scalar(value, rename) for name, value in output}

    def _unify(self, left: Scalar, right: Scalar) -> None:
        left, right = self._resolve(left), self._resolve(right)
        if isinstance(left, Column) and isinstance(right, Column):
            if left != right:
                self.same[right.name] = left
        else:
            self.literals.append(Where(Compare("=", left, right)))


def _column(scalar: Scalar) -> Column:
    assert isinstance(scalar, Column)
    return scalar


def reads_inside(query: Query, relations: Collection[str]) -> bool:
    """Whether an aggregate or a test, which need whole relations, reads one of these relations."""
    for literal in query.literals:
        node = literal.node if isinstance(literal, Absent) else literal.source if isinstance(literal, Rows) else ""
        if not isinstance(node, str) and not relations_of(node, {}).isdisjoint(relations):
            return True
    return False


def recursive_rows(query: Query, relations: Sequence[str]) -> list[int]:
    """The positions of the literals that read one of these relations."""
    return [i for i, rows in enumerate(query.literals) if isinstance(rows, Rows) and rows.source in relations]

"""Relational nodes. Every node denotes a *set* of rows over named columns; two columns of one name are one column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from flintlog.ir.scalar import Column, Condition, Scalar
from flintlog.types import Kind, Row

Schema: TypeAlias = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """Keeps the row if the condition holds."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Let:
    """Adds a column."""

    column: Column
    value: Scalar


@dataclass(frozen=True, slots=True)
class Each:
    """Adds a column, one row for every value of `range(from, to[, step])`."""

    column: Column
    bounds: tuple[Scalar, ...]


Step: TypeAlias = Where | Let | Each


@dataclass(frozen=True)
class Unit:
    """One row without columns."""

    @property
    def schema(self) -> Schema:
        return ()


@dataclass(frozen=True)
class Values:
    """Constant rows."""

    schema: Schema
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Scan:
    """The rows of a relation, its columns renamed."""

    relation: str
    schema: Schema


@dataclass(frozen=True)
class FlatMap:
    """Filter, compute and project, fused: the steps run in order on each row, then `output` names what is kept."""

    input: Node
    steps: tuple[Step, ...]
    output: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return tuple(Column(name, value.kind) for name, value in self.output)


@dataclass(frozen=True)
class JoinFlatMap:
    """Rows of both sides that agree on the columns `on`, then steps and output as in FlatMap. The columns `on` are just
    those that both sides have; without any it is a cross product."""

    left: Node
    right: Node
    on: tuple[str, ...]
    steps: tuple[Step, ...]
    output: tuple[tuple[str, Scalar], ...]

    @cached_property
    def joined(self) -> Schema:
        """The columns the steps see: those of the left, then those only the right has."""
        return self.left.schema + tuple(c for c in self.right.schema if c.name not in self.on)

    @cached_property
    def schema(self) -> Schema:
        return tuple(Column(name, value.kind) for name, value in self.output)


@dataclass(frozen=True)
class SemiJoin:
    """The left rows that agree with some right row on the columns `on`."""

    left: Node
    right: Node
    on: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        return self.left.schema


@dataclass(frozen=True)
class AntiJoin:
    """The left rows that agree with no right row on the columns `on`."""

    left: Node
    right: Node
    on: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        return self.left.schema


@dataclass(frozen=True)
class Fold:
    """What an Aggregate computes over the rows of a group: `op` is count, sum, min, max or mean over `value`, or the
    name of a user's function, `@f`, folded from `init`."""

    op: str
    value: Scalar | None
    kind: Kind
    init: Scalar | None = None

    @property
    def has_default(self) -> bool:
        """Whether a group without rows has a value: 0 for count and sum, `init` for a user's function."""
        return self.op in ("count", "sum") or self.op.startswith("@")


@dataclass(frozen=True)
class Aggregate:
    """One row per group of equal `by` columns: these columns, and `into` with the fold over the group's rows.
    With `keys`, a node over just the `by` columns, there is a row for each of its rows instead, whether or not the
    group has rows, provided the fold has a default."""

    input: Node
    by: tuple[str, ...]
    into: str
    fold: Fold
    keys: Node | None = None

    @cached_property
    def schema(self) -> Schema:
        kept = {c.name: c for c in self.input.schema}
        return (*(kept[name] for name in self.by), Column(self.into, self.fold.kind))


@dataclass(frozen=True)
class ConcatAll:
    """The rows of all inputs, which have the same columns in the same order."""

    inputs: tuple[Node, ...]

    @property
    def schema(self) -> Schema:
        return self.inputs[0].schema


@dataclass(frozen=True)
class Shared:
    """The rows of subplan `id` of the program, its columns renamed."""

    id: int
    schema: Schema


Node: TypeAlias = Unit | Values | Scan | FlatMap | JoinFlatMap | SemiJoin | AntiJoin | Aggregate | ConcatAll | Shared


def children(node: Node) -> tuple[Node, ...]:
    """The inputs of a node, in order."""
    match node:
        case FlatMap():
            return (node.input,)
        case JoinFlatMap() | SemiJoin() | AntiJoin():
            return (node.left, node.right)
        case Aggregate():
            return (node.input,) if node.keys is None else (node.input, node.keys)
        case ConcatAll():
            return node.inputs
        case _:
            return ()

"""Tells which plans select every row once without DISTINCT."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flintlog.ir.nodes import (
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    JoinFlatMap,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Step,
    Values,
)
from flintlog.ir.scalar import Column, Scalar


def is_distinct(node: Node, is_set: Callable[[str], bool]) -> bool:
    """Whether the plan of a node, which never looks for equal rows, still has every row once. `is_set` tells that of a
    relation: facts may repeat rows."""
    match node:
        case Scan():
            return is_set(node.relation)
        case FlatMap():
            return is_distinct(node.input, is_set) and _tells_apart(node.input.schema, node.steps, node.output)
        case JoinFlatMap():
            both = is_distinct(node.left, is_set) and is_distinct(node.right, is_set)
            return both and _tells_apart(node.joined, node.steps, node.output)
        case SemiJoin() | AntiJoin():
            return is_distinct(node.left, is_set)
        case ConcatAll():
            return len(node.inputs) == 1 and is_distinct(node.inputs[0], is_set)
        case Values():
            return len(set(node.rows)) == len(node.rows)
        case _:
            return True


def _tells_apart(schema: Schema, steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]) -> bool:
    """Whether different rows stay different."""
    told = {column.name for column in schema} | {step.column.name for step in steps if isinstance(step, Each)}
    return told <= {value.name for _, value in output if isinstance(value, Column)}

"""Which nodes give every row once without being told to."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.ir.relation import AntiJoin, ConcatAll, Each, FlatMap, JoinFlatMap, Node, Schema, SemiJoin, Step, Values
from flintlog.ir.scalar import Column, Scalar


def is_distinct(node: Node) -> bool:
    """Whether the plan of a node, which never looks for equal rows, gives every row once all the same."""
    match node:
        case FlatMap():
            return is_distinct(node.input) and _tells_apart(node.input.schema, node.steps, node.output)
        case JoinFlatMap():
            both = is_distinct(node.left) and is_distinct(node.right)
            return both and _tells_apart(node.joined, node.steps, node.output)
        case SemiJoin() | AntiJoin():
            return is_distinct(node.left)
        case ConcatAll():
            return len(node.inputs) == 1 and is_distinct(node.inputs[0])
        case Values():
            return len(set(node.rows)) == len(node.rows)
        case _:
            return True


def _tells_apart(schema: Schema, steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]) -> bool:
    """Whether different rows stay different."""
    told = {column.name for column in schema} | {step.column.name for step in steps if isinstance(step, Each)}
    return told <= {value.name for _, value in output if isinstance(value, Column)}

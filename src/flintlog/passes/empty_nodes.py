"""Nodes that have no rows whatever the facts are."""

from __future__ import annotations

from flintlog.ir.nodes import AntiJoin, ConcatAll, FlatMap, JoinFlatMap, Node, SemiJoin, Values, Where, children
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.scalar import Never
from flintlog.ir.visit import node_terms, walk


def without_empty_parts(node: Node) -> Node:
    """The node, or a simpler one with the same rows if one of its inputs has none, or no row can pass its steps."""
    match node:
        case FlatMap() | JoinFlatMap() if _never(node) or any(map(is_empty, children(node))):
            return _emptied(node)
        case SemiJoin() if is_empty(node.left) or is_empty(node.right):
            return _emptied(node)
        case AntiJoin() if is_empty(node.left):
            return _emptied(node)
        case AntiJoin() if is_empty(node.right):
            return node.left
        case ConcatAll() if any(map(is_empty, node.inputs)):
            return ConcatAll(tuple(part for part in node.inputs if not is_empty(part)) or node.inputs[:1])
        case _:
            return node


def _never(node: FlatMap | JoinFlatMap) -> bool:
    return any(isinstance(step, Where) and isinstance(step.condition, Never) for step in node.steps)


def is_empty(node: Node) -> bool:
    """Whether the node is written as one without rows."""
    return isinstance(node, Values) and not node.rows


def _emptied(node: Node) -> Node:
    """No rows instead of a node that has none, unless computing it may end the program."""
    fails = any(may_fail(term) for part in walk(node) for term in node_terms(part))
    return node if fails else Values(node.schema, ())

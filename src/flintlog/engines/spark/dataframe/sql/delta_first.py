"""Joins that begin with what is new.

A rule's plan may join relations with each other before what is new in a round comes in. Where two of them grow, that
would be done again in every round, with all their rows; where several stay as they are, the result would be kept,
however large. There the joins go up from what is new, and take one relation after the other. A relation that grows and
inputs that restrict it, or two inputs, are joined as the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from flintlog.ir.nodes import AntiJoin, Each, FlatMap, JoinFlatMap, Let, Node, Scan, SemiJoin, children
from flintlog.ir.scalar import Column
from flintlog.ir.visit import columns_of, terms_of, walk

# So many inputs in a row may well give more rows than all of them have.
MANY = 3


@dataclass(frozen=True)
class Joined:
    """What is known of the sources of joins: about how many rows one has, and whether it grows."""

    size: Callable[[Node], float]
    grows: Callable[[Node], bool]


def delta_first(node: Node, delta: Scan, sources: Joined) -> Node:
    """A node that has the same rows, with its joins put so; the node itself where they are so already, or cannot be."""
    match node:
        case JoinFlatMap():
            return _from_delta(node, delta, sources)
        case FlatMap():
            inner = delta_first(node.input, delta, sources)
            return node if inner is node.input else replace(node, input=inner)
        case SemiJoin() | AntiJoin():
            return _inside(node, delta, sources)
    return node


def _inside(node: JoinFlatMap | SemiJoin | AntiJoin, delta: Scan, sources: Joined) -> Node:
    """The node with its inputs put so."""
    left, right = (delta_first(side, delta, sources) if _has(side, delta) else side for side in (node.left, node.right))
    return node if left is node.left and right is node.right else replace(node, left=left, right=right)


def _has(node: Node, delta: Scan) -> bool:
    return any(part is delta for part in walk(node))


def _from_delta(root: JoinFlatMap, delta: Scan, sources: Joined) -> Node:
    start, groups = _path(root, delta, sources)
    if all(len(group) == 1 for group in groups) or not _is_one_scope(root):
        return _inside(root, delta, sources)
    order = _order(start, groups, sources)
    if order is None:
        return _inside(root, delta, sources)
    used = {name for _, value in root.output for name in columns_of(value)}
    used |= {name for step in root.steps for term in terms_of(step) for name in columns_of(term)}
    result = delta_first(start, delta, sources)
    for place, source in enumerate(order):
        later = used.union(*(_names(other) for other in order[place + 1 :]))
        result = _joined(result, source, later)
    assert isinstance(result, JoinFlatMap)
    return replace(result, steps=root.steps, output=root.output)


def _path(root: JoinFlatMap, delta: Scan, sources: Joined) -> tuple[Node, list[list[Node]]]:
    """The source that has what is new, and, from there up to the root, the sources that each join adds."""
    groups: list[list[Node]] = []
    node: Node = root
    while isinstance(node, JoinFlatMap) and (node is root or _is_plain(node)):
        inner, other = (node.left, node.right) if _has(node.left, delta) else (node.right, node.left)
        groups.append(_taken_apart(other, sources))
        node = inner
    return node, groups[::-1]


def _taken_apart(node: Node, sources: Joined) -> list[Node]:
    """What is joined with what is new, one after the other, instead of a node."""
    parts = list(_sources(node))
    growing = sum(map(sources.grows, parts))
    return parts if growing > 1 or (not growing and len(parts) >= MANY) else [node]


def _sources(node: Node) -> Iterator[Node]:
    if isinstance(node, JoinFlatMap) and _is_plain(node):
        yield from _sources(node.left)
        yield from _sources(node.right)
    else:
        yield node


def _is_plain(join: JoinFlatMap) -> bool:
    """Whether a join only leaves columns out."""
    return not join.steps and all(isinstance(value, Column) and value.name == name for name, value in join.output)


def _is_one_scope(root: JoinFlatMap) -> bool:
    """Whether a name means the same in all sources: what a join leaves out, nobody beside it has, and no step makes."""
    all_sources = list(_sources(root.left)) + list(_sources(root.right))
    made = {step.column.name for step in root.steps if isinstance(step, Let | Each)}
    if len({*map(id, all_sources)}) < len(all_sources) or any(made & _names(source) for source in all_sources):
        return False
    for join in _plain_joins(root):
        gone = {column.name for column in join.joined} - _names(join)
        inside = {id(source) for source in _sources(join)}
        if any(gone & _names(source) for source in all_sources if id(source) not in inside):
            return False
    return True


def _plain_joins(join: JoinFlatMap) -> Iterator[JoinFlatMap]:
    """Those below a join."""
    for side in children(join):
        if isinstance(side, JoinFlatMap) and _is_plain(side):
            yield side
            yield from _plain_joins(side)


def _order(start: Node, groups: Sequence[Sequence[Node]], sources: Joined) -> list[Node] | None:
    """One source after the other, each of which has columns that are known: first those of the nearest join, of these
    one that adds few columns, and few rows. None if there is none in the end."""
    known = _names(start)
    waiting: list[Node] = []
    order: list[Node] = []
    for group in groups:
        waiting += group
        while met := [source for source in waiting if known & _names(source)]:
            best = min(met, key=lambda source: (len(_names(source) - known), sources.size(source)))
            waiting = [source for source in waiting if source is not best]
            order.append(best)
            known |= _names(best)
    return None if waiting else order


def _joined(left: Node, right: Node, later: set[str]) -> JoinFlatMap:
    """Two sources, with the columns that somebody reads later."""
    on = tuple(column.name for column in left.schema if column.name in _names(right))
    join = JoinFlatMap(left, right, on, (), ())
    return replace(join, output=tuple((column.name, column) for column in join.joined if column.name in later))


def _names(node: Node) -> set[str]:
    return {column.name for column in node.schema}

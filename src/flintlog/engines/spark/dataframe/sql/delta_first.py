"""Reorders joins so that they begin with the delta.

A rule's tree may join other relations with each other before the delta. If two of them grow, that join would run again
in every round over all their rows; if MANY of them are inputs, its result would be persisted, however large. In both
cases the joins now start at the delta and add one relation after the other. A growing relation joined with inputs that
restrict it, or a join of two inputs, stays as the tree has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from flintlog.ir.nodes import AntiJoin, Each, FlatMap, JoinFlatMap, Let, Node, Scan, SemiJoin, children
from flintlog.ir.scalar import Column
from flintlog.ir.visit import columns_of, terms_of, walk

# A join of so many inputs may well have more rows than all of them together.
MANY = 3


@dataclass(frozen=True)
class Joined:
    """Two functions of a source of joins: an estimate of its rows, and whether it grows."""

    size: Callable[[Node], float]
    grows: Callable[[Node], bool]


def delta_first(node: Node, delta: Scan, sources: Joined) -> Node:
    """A node with the same rows whose joins begin with the delta; the node itself if they already do, or cannot."""
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
    """The node over reordered inputs."""
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
    for i, source in enumerate(order):
        later = used.union(*(_names(other) for other in order[i + 1 :]))
        result = _joined(result, source, later)
    assert isinstance(result, JoinFlatMap)
    return replace(result, steps=root.steps, output=root.output)


def _path(root: JoinFlatMap, delta: Scan, sources: Joined) -> tuple[Node, list[list[Node]]]:
    """The source with the delta, and, from there up to the root, the sources that each join adds."""
    groups: list[list[Node]] = []
    node: Node = root
    while isinstance(node, JoinFlatMap) and (node is root or _is_plain(node)):
        inner, other = (node.left, node.right) if _has(node.left, delta) else (node.right, node.left)
        groups.append(_taken_apart(other, sources))
        node = inner
    return node, groups[::-1]


def _taken_apart(node: Node, sources: Joined) -> list[Node]:
    """The sources to join one after the other instead of a node; the node alone if it stays as it is."""
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
    """Whether a name means the same in all sources: no source beside a join has a column that the join leaves out, and
    no step makes one."""
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
    """The plain joins below a join."""
    for side in children(join):
        if isinstance(side, JoinFlatMap) and _is_plain(side):
            yield side
            yield from _plain_joins(side)


def _order(start: Node, groups: Sequence[Sequence[Node]], sources: Joined) -> list[Node] | None:
    """The sources in an order in which each shares a column with the sources before it: those of the nearest join
    first, and of these the one that adds the fewest columns, then the fewest rows. None if there is no such order."""
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
    """The join of two sources, with the columns that later joins, the steps or the output read."""
    on = tuple(column.name for column in left.schema if column.name in _names(right))
    join = JoinFlatMap(left, right, on, (), ())
    return replace(join, output=tuple((column.name, column) for column in join.joined if column.name in later))


def _names(node: Node) -> set[str]:
    return {column.name for column in node.schema}

"""Chooses the columns by which the stratum's relations are partitioned: those by which rules join them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from flintlog.ir.nodes import Aggregate, AntiJoin, ConcatAll, FlatMap, JoinFlatMap, Node, Scan, SemiJoin
from flintlog.ir.program import Rule
from flintlog.ir.scalar import Column, Scalar


def joined_by(rules: Sequence[Rule], own: Collection[str]) -> dict[str, tuple[int, ...]]:
    """For each relation the positions of the columns by which most rules join it, if any do. Rows that are partitioned
    by some columns of a join do not move for it, so columns that several joins share serve all of them."""
    joins: dict[str, list[tuple[int, ...]]] = {}
    for rule in rules:
        for relation, positions in _joins(rule.body, ()):
            if relation in own and positions:
                joins.setdefault(relation, []).append(positions)
    return {relation: _serving_most(found) for relation, found in joins.items()}


def _serving_most(joins: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Of the columns of each join, and of those that two joins share, the ones that serve most joins; among equals the
    most columns, because they spread rows more evenly."""
    common = dict.fromkeys(tuple(sorted({*left} & {*right})) for left in joins for right in joins)
    return max(filter(None, common), key=lambda columns: (sum({*columns} <= {*join} for join in joins), len(columns)))


def _joins(node: Node, wanted: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    match node:
        case Scan():
            yield node.relation, tuple(sorted(positions(node, wanted)))
        case FlatMap():
            yield from _joins(node.input, passed_down(node.output, wanted))
        case JoinFlatMap() | SemiJoin() | AntiJoin():
            yield from _joins(node.left, node.on)
            yield from _joins(node.right, node.on)
        case ConcatAll():
            for part in node.inputs:
                yield from _joins(part, wanted)
        case Aggregate():
            yield from _joins(node.input, node.by)
        case _:
            pass


def positions(node: Node, wanted: Sequence[str]) -> tuple[int, ...]:
    """The positions of the wanted columns in a node's schema; empty unless it has all of them."""
    at = {column.name: i for i, column in enumerate(node.schema)}
    return tuple(at[name] for name in wanted) if all(name in at for name in wanted) else ()


def passed_down(output: Sequence[tuple[str, Scalar]], wanted: Sequence[str]) -> list[str]:
    """The input columns that become the wanted ones; empty unless each of these is one."""
    below = {name: value.name for name, value in output if isinstance(value, Column)}
    return [below[name] for name in wanted] if all(name in below for name in wanted) else []

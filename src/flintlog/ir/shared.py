"""Puts shared subplans back in the place of the nodes that point to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from flintlog.ir.nodes import FlatMap, Node, Scan, Shared
from flintlog.ir.program import Program
from flintlog.ir.visit import rewrite, rewrite_bodies


def in_place(node: Node, shared: Mapping[int, Node], which: Callable[[Shared], bool] = lambda _: True) -> Node:
    """The tree with subplans in the place of those `Shared` nodes that `which` selects. Each place gets scans of its
    own: whoever tells scans apart by identity can do so still.

    >>> from flintlog.ir.scalar import Column
    >>> from flintlog.types import Kind
    >>> x, y = Column("x", Kind.NUMBER), Column("y", Kind.NUMBER)
    >>> in_place(Shared(1, (x,)), {1: Scan("a", (x,))}) == Scan("a", (x,))
    True
    """

    def expand(part: Node) -> Node:
        if not isinstance(part, Shared) or not which(part):
            return part
        subplan = rewrite(in_place(shared[part.id], shared, which), _copy_of_scan)
        if subplan.schema == part.schema:
            return subplan
        if isinstance(subplan, Scan):
            return replace(subplan, schema=part.schema)
        output = zip(part.schema, subplan.schema, strict=True)
        return FlatMap(subplan, (), tuple((here.name, there) for here, there in output))

    return rewrite(node, expand)


def without_shared(program: Program) -> Program:
    """The program as it would be had nothing been shared: for engines that do not know `Shared`."""
    if not program.shared:
        return program
    return replace(rewrite_bodies(program, lambda body: in_place(body, program.shared)), shared={})


def _copy_of_scan(node: Node) -> Node:
    return replace(node) if isinstance(node, Scan) else node

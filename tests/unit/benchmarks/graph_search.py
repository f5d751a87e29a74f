"""Searches of graphs with worklists: what the independent twins of the benchmark programs are built from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Set
from typing import TypeVar

A = TypeVar("A", bound=Hashable)
B = TypeVar("B", bound=Hashable)

Row = tuple[int, ...]
Facts = Mapping[str, Set[Row]]


def graph(edges: Iterable[tuple[A, B]]) -> dict[A, set[B]]:
    result: dict[A, set[B]] = defaultdict(set)
    for a, b in edges:
        result[a].add(b)
    return result


def successors(edges: Iterable[Row]) -> dict[int, set[int]]:
    """The graph of a relation with two columns."""
    return graph((a, b) for a, b in edges)


def reached(start: Iterable[A], edges: Mapping[A, Set[A]], closed: Set[A] = frozenset()) -> set[A]:
    """The nodes that can be reached from these, with them, without entering a closed one."""
    seen = set(start)
    work = list(seen)
    while work:
        new = edges.get(work.pop(), frozenset()) - seen - closed
        seen |= new
        work += new
    return seen


def closure(edges: Mapping[A, Set[A]]) -> dict[A, set[A]]:
    """Everything that some way of one edge or more leads to, by its start."""
    return {a: reached(bs, edges) for a, bs in edges.items()}

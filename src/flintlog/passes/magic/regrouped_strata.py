"""Strata for a program whose rules have changed: relations that depend on one another, in the old order if possible."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from flintlog.ir.nodes import Aggregate, AntiJoin, Node, Scan, children
from flintlog.ir.program import Program, Relation, Rule, Stratum, Subsumption


@dataclass(frozen=True)
class Reads:
    """The relations that a tree reads, and those among them that it needs complete."""

    all: frozenset[str]
    complete: frozenset[str]


def reads_of(node: Node) -> Reads:
    """What a tree reads; what a negation or an aggregate reads has to be complete."""
    every: set[str] = set()
    complete: set[str] = set()

    def visit(node: Node, inside: bool) -> None:
        if isinstance(node, Scan):
            every.add(node.relation)
            if inside:
                complete.add(node.relation)
        for i, child in enumerate(children(node)):
            denies = isinstance(node, Aggregate) or (isinstance(node, AntiJoin) and i == 1)
            visit(child, inside or denies)

    visit(node, False)
    return Reads(frozenset(every), frozenset(complete))


def stratified(
    program: Program,
    relations: Mapping[str, Relation],
    rules: Iterable[Rule],
    changed: Collection[str],
    fixed: Collection[str],
) -> tuple[Stratum, ...] | None:
    """The strata of `rules` over `relations`, in the order of the program's as far as dependencies allow; each relation
    of `changed` that is new stands by the relation it is for. None if a relation would need one to be complete that
    depends on it, or if one of `fixed` would share its rounds with others than before."""
    subsumptions = [s for stratum in program.strata for s in stratum.subsumptions]
    by_relation: dict[str, list[Rule]] = {name: [] for name in relations}
    for rule in rules:
        by_relation[rule.relation].append(rule)
    reads = {name: [reads_of(rule.body) for rule in found] for name, found in by_relation.items()}
    for subsumption in subsumptions:
        reads[subsumption.relation].append(reads_of(subsumption.body))
    edges = {name: frozenset().union(*(r.all for r in found)) for name, found in reads.items()}
    for name, relation in relations.items():
        if relation.delta_of is not None:
            edges[name] |= {relation.delta_of}
    place = _places(program, relations)
    groups = _components(sorted(relations, key=place.__getitem__), edges)
    before = {name: frozenset(stratum.relations) for stratum in program.strata for name in stratum.relations}
    result: list[Stratum] = []
    for group in _ordered(groups, edges, place):
        members = frozenset(group)
        if members & set(changed):
            if any(r.complete & members for name in group for r in reads[name]):
                return None
        if any(before.get(name, members) != members for name in members & set(fixed)):
            return None
        result.append(_stratum(group, by_relation, subsumptions, edges, members))
    return tuple(result)


def _stratum(
    group: list[str],
    rules: Mapping[str, list[Rule]],
    subsumptions: Iterable[Subsumption],
    edges: Mapping[str, frozenset[str]],
    members: frozenset[str],
) -> Stratum:
    return Stratum(
        tuple(group),
        any(edges[name] & members for name in group),
        tuple(rule for name in group for rule in rules[name]),
        tuple(s for s in subsumptions if s.relation in members),
    )


def _places(program: Program, relations: Mapping[str, Relation]) -> dict[str, tuple[float, int]]:
    """Where a relation stood; a new one before the relation that its name begins with."""
    places = {
        name: (float(i), j) for i, stratum in enumerate(program.strata) for j, name in enumerate(stratum.relations)
    }
    for i, name in enumerate(relations):
        if name not in places:
            home = places.get(name.rpartition("$")[0], (0.0, 0))
            places[name] = (home[0] - 0.5, i)
    return places


def _ordered(
    groups: list[list[str]], edges: Mapping[str, frozenset[str]], place: Mapping[str, tuple[float, int]]
) -> Iterator[list[str]]:
    """The groups so that each comes after those it reads; among those that can come, the one that stood first."""
    group_of = {name: i for i, group in enumerate(groups) for name in group}
    needs = [{group_of[read] for name in group for read in edges[name]} - {i} for i, group in enumerate(groups)]
    readers: list[list[int]] = [[] for _ in groups]
    for i, needed in enumerate(needs):
        for other in needed:
            readers[other].append(i)
    ready = [(min(place[name] for name in groups[i]), i) for i, needed in enumerate(needs) if not needed]
    heapq.heapify(ready)
    while ready:
        _, i = heapq.heappop(ready)
        yield groups[i]
        for reader in readers[i]:
            needs[reader].discard(i)
            if not needs[reader]:
                heapq.heappush(ready, (min(place[name] for name in groups[reader]), reader))


def _components(names: Iterable[str], edges: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Relations that depend on one another, by Tarjan's algorithm without recursion."""
    order = list(names)
    rank = {name: i for i, name in enumerate(order)}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    result: list[list[str]] = []
    for root in order:
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root], key=rank.__getitem__)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, reads = work[-1]
            step = next(reads, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    group = stack[stack.index(name) :]
                    del stack[stack.index(name) :]
                    on_stack.difference_update(group)
                    result.append(sorted(group, key=rank.__getitem__))
            elif step not in index:
                index[step] = low[step] = len(index)
                stack.append(step)
                on_stack.add(step)
                work.append((step, iter(sorted(edges[step], key=rank.__getitem__))))
            elif step in on_stack:
                low[name] = min(low[name], index[step])
    return result

"""The best rooted join spanning tree of a join graph.

A rooted tree is a plan: an atom joins the trees below it one by one, and each join projects to what is still needed.
Its cost is the largest number of variables that one join sees. Cheapest first; among equals the shallowest tree, then
the one that joins growing relations latest, then the fewest variables over all joins. Nothing here depends on the order
in which a rule was written, as long as the atoms are numbered without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from flintlog.passes.structural.join_graph import Edge, JoinGraph, absorb_semijoins, maximum_spanning_trees

# Rooted trees that are looked at for one rule. Up to five atoms that is all of them, whatever they share.
BUDGET = 700


@dataclass(frozen=True)
class Rooted:
    """An atom, and the trees that it joins in this order. `atoms` and `variables` are bits: what it covers, and what
    the result has. `growth` and `total` add up, over all joins, the growing relations and the variables they see."""

    atom: int
    children: tuple[Rooted, ...]
    atoms: int
    variables: int
    cost: int
    height: int
    growing: int
    growth: int
    total: int

    @property
    def rank(self) -> tuple[int, int, int, int]:
        return self.cost, self.height, self.growth, self.total


def best_trees(graph: JoinGraph) -> list[Rooted]:
    """The best tree for each part of the graph that is connected; what lies apart is to be multiplied in this order."""
    leaves = _Leaves(graph)
    trees = [_best_tree(graph, leaves, members) for members in graph.components(leaves.alive)]
    return sorted(trees, key=lambda tree: (tree.variables.bit_count(), tree.atom))


def cost_of(trees: Sequence[Rooted]) -> int:
    """The cost of a plan, cross products included."""
    cost = max(tree.cost for tree in trees)
    variables = 0
    for tree in trees:
        variables |= tree.variables
        cost = max(cost, variables.bit_count())
    return cost


class _Leaves:
    """Atoms with the semijoins that are pushed down to them."""

    def __init__(self, graph: JoinGraph) -> None:
        self.graph = graph
        filters: dict[int, list[Rooted]] = {atom: [] for atom in range(len(graph.atoms))}
        gone: set[int] = set()
        for atom, home in absorb_semijoins(graph):
            filters[home].append(join_children(graph, atom, filters[atom]))
            gone.add(atom)
        self.alive = [atom for atom in filters if atom not in gone]
        self.leaf = {atom: join_children(graph, atom, filters[atom]) for atom in self.alive}


def join_children(graph: JoinGraph, atom: int, filters: Sequence[Rooted], others: Sequence[Rooted] = ()) -> Rooted:
    """The tree of an atom over its children: first those that only filter, then the rest, small results first."""
    covered, variables, growing = 1 << atom, graph.atoms[atom], graph.growing >> atom & 1
    cost, growth, total = variables.bit_count(), 0, 0
    ordered, waiting = list(filters), list(others)
    for child in filters:
        covered |= child.atoms
        cost = max(cost, child.cost)
    variables &= graph.needed(covered)
    while waiting:
        child = min(waiting, key=lambda c: ((variables | c.variables).bit_count(), c.growing, c.atom))
        waiting.remove(child)
        ordered.append(child)
        joined = variables | child.variables
        covered |= child.atoms
        growing += child.growing
        cost = max(cost, child.cost, joined.bit_count())
        growth += child.growth + growing
        total += child.total + joined.bit_count()
        variables = joined & graph.needed(covered)
    height = 1 + max((child.height for child in others), default=0)
    return Rooted(atom, tuple(ordered), covered, variables, cost, height, growing, growth, total)


def _best_tree(graph: JoinGraph, leaves: _Leaves, members: Sequence[int]) -> Rooted:
    if len(members) == 1:
        return leaves.leaf[members[0]]
    # No plan is cheaper than its largest atom, or than the join that gives the result.
    variables = 0
    for member in members:
        variables |= leaves.leaf[member].variables
    result = variables & graph.needed(sum(leaves.leaf[m].atoms for m in members))
    least = max(result.bit_count(), *(leaves.leaf[member].cost for member in members))
    best: Rooted | None = None
    limit = max(1, BUDGET // len(members))
    trees = list(islice(maximum_spanning_trees(graph, members), limit + 1))
    candidates = iter(trees[:limit]) if len(trees) <= limit else _diverse(graph, leaves, members, trees[0], limit)
    for edges in candidates:
        tree = _best_root(graph, leaves, members, edges)
        if best is None or tree.rank < best.rank:
            best = tree
            if best.cost == least and best.height <= 2:
                break
    assert best is not None
    return best


def _best_root(graph: JoinGraph, leaves: _Leaves, members: Sequence[int], edges: Sequence[Edge]) -> Rooted:
    neighbours: dict[int, list[int]] = {member: [] for member in members}
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    below: dict[tuple[int, int], Rooted] = {}

    def rooted(atom: int, parent: int) -> Rooted:
        # The tree below an atom is the same for all roots on the same side of it.
        known = below.get((atom, parent))
        if known is None:
            children = [rooted(other, atom) for other in neighbours[atom] if other != parent]
            known = below[atom, parent] = join_children(graph, atom, leaves.leaf[atom].children, children)
        return known

    return min((rooted(member, -1) for member in members), key=lambda tree: tree.rank)


def _diverse(
    graph: JoinGraph, leaves: _Leaves, members: Sequence[int], start: Sequence[Edge], limit: int
) -> Iterator[tuple[Edge, ...]]:
    """Some of very many trees: from a tree to the best of its neighbours, which differ from it in one edge."""
    current = tuple(start)
    yield current
    looked = 1
    best = _best_root(graph, leaves, members, current).rank
    improved = True
    while improved and looked < limit:
        improved = False
        for tree in _exchanges(graph, members, current):
            looked += 1
            rank = _best_root(graph, leaves, members, tree).rank
            if rank < best:
                best, current, improved = rank, tree, True
                yield tree
                break
            if looked >= limit:
                break


def _exchanges(graph: JoinGraph, members: Sequence[int], tree: Sequence[Edge]) -> Iterator[tuple[Edge, ...]]:
    """The maximum spanning trees that have one edge of this one replaced by another of the same weight."""
    for i, removed in enumerate(tree):
        rest = [*tree[:i], *tree[i + 1 :]]
        side = _side(removed[0], rest)
        weight = graph.weight(*removed)
        for one in members:
            for other in members:
                if one in side and other not in side and graph.weight(one, other) == weight:
                    edge = (min(one, other), max(one, other))
                    if edge != removed:
                        yield (*rest, edge)


def _side(start: int, edges: Sequence[Edge]) -> set[int]:
    side = {start}
    grown = True
    while grown:
        grown = False
        for one, other in edges:
            if (one in side) != (other in side):
                side |= {one, other}
                grown = True
    return side

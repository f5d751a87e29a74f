"""The join graph of a rule, variables as bits: which atoms share how many, what is needed where, its spanning trees.

Atoms and variables are numbered; a set of either is an integer with their bits set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Edge: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class JoinGraph:
    """- `atoms`: the variables of each atom that anything else asks for.
    - `output`: the variables that the result needs.
    - `tests`: the variables of each test; where all are bound, it runs and needs them no more.
    - `growing`: the atoms that read a relation which is still being computed.
    - `names`: what the variables are called, from the lowest bit on.
    """

    atoms: tuple[int, ...]
    output: int
    tests: tuple[int, ...] = ()
    growing: int = 0
    names: tuple[str, ...] = ()
    _needed: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def weight(self, one: int, other: int) -> int:
        """How many variables two atoms join on."""
        return (self.atoms[one] & self.atoms[other]).bit_count()

    def needed(self, covered: int) -> int:
        """The variables that something outside a set of atoms asks for: other atoms, the output, tests that cannot run
        inside. A join of the set can project to these.

        >>> graph = JoinGraph(atoms=(0b011, 0b110), output=0b001)  # a(x, y), b(y, z) -> x
        >>> bin(graph.needed(0b01)), bin(graph.needed(0b11))
        ('0b111', '0b1')
        """
        known = self._needed.get(covered)
        if known is None:
            known, inside = self.output, 0
            for i, variables in enumerate(self.atoms):
                if covered >> i & 1:
                    inside |= variables
                else:
                    known |= variables
            for test in self.tests:
                if test & ~inside:
                    known |= test
            self._needed[covered] = known
        return known

    def components(self, alive: Sequence[int]) -> list[list[int]]:
        """The atoms in groups that share no variables."""
        groups: list[tuple[int, list[int]]] = []
        for atom in alive:
            variables, members = self.atoms[atom], [atom]
            apart = []
            for group in groups:
                if group[0] & variables:
                    variables |= group[0]
                    members = group[1] + members
                else:
                    apart.append(group)
            groups = [*apart, (variables, members)]
        return [sorted(members) for _, members in groups]

    def order_cost(self, order: Sequence[int]) -> int:
        """The cost of joining the atoms one after the other: the most variables that one join sees.

        >>> JoinGraph(atoms=(0b011, 0b110, 0b100), output=0b001).order_cost((0, 1, 2))
        3
        """
        covered = variables = 0
        cost = 0
        for atom in order:
            joined = variables | (self.atoms[atom] & self.needed(1 << atom))
            cost = max(cost, joined.bit_count(), self.atoms[atom].bit_count())
            covered |= 1 << atom
            variables = joined & self.needed(covered)
        return cost


def absorb_semijoins(graph: JoinGraph) -> list[tuple[int, int]]:
    """Pairs (atom, other): all that anything still needs of the atom stands in the other too, so that it only filters
    the other's rows. In an order in which the atom has taken in all that it absorbs itself.

    >>> absorb_semijoins(JoinGraph(atoms=(0b011, 0b110, 0b100), output=0b001))  # a(x, y), b(y, z), c(z) -> x
    [(2, 1), (1, 0)]
    """
    pairs: list[tuple[int, int]] = []
    cover = {atom: 1 << atom for atom in range(len(graph.atoms))}
    found = True
    while found and len(cover) > 1:
        found = False
        for atom, covered in cover.items():
            rest = graph.atoms[atom] & graph.needed(covered)
            homes = [other for other in cover if other != atom and not rest & ~graph.atoms[other]]
            if homes:
                home = min(homes, key=lambda other: (graph.atoms[other].bit_count(), other))
                pairs.append((atom, home))
                cover[home] |= cover.pop(atom)
                found = True
                break
    return pairs


def is_cyclic(graph: JoinGraph) -> bool:
    """Whether the atoms have no join tree. An ear is an atom whose variables that others have stand in one of them; who
    takes away ear after ear is left with a cycle, or with nothing (Graham; Yu and Özsoyoğlu).

    >>> is_cyclic(JoinGraph(atoms=(0b011, 0b110, 0b101), output=0))
    True
    """
    atoms = list(graph.atoms)
    while len(atoms) > 1:
        for i, variables in enumerate(atoms):
            others = atoms[:i] + atoms[i + 1 :]
            shared = 0
            for other in others:
                shared |= variables & other
            if any(not shared & ~other for other in others):
                atoms = others
                break
        else:
            return True
    return False


def is_indifferent(graph: JoinGraph, atoms: Sequence[int]) -> bool:
    """Whether all orders of joining these atoms without a cross product cost the same, so that the structure does not
    say which is a good one.

    >>> triangle = JoinGraph(atoms=(0b0111, 0b1010, 0b1001), output=0b1100)  # c(y, w, z), p(w, x), p(y, x) -> z, x
    >>> is_indifferent(triangle, (0, 1, 2))
    True
    """
    costs = (graph.order_cost(order) for order in _connected_orders(graph, atoms, (), 0))
    first = next(costs, None)
    return all(cost == first for cost in costs)


def _connected_orders(
    graph: JoinGraph, atoms: Sequence[int], order: tuple[int, ...], bound: int
) -> Iterator[tuple[int, ...]]:
    if len(order) == len(atoms):
        yield order
    for atom in atoms:
        if atom not in order and (not order or graph.atoms[atom] & bound):
            yield from _connected_orders(graph, atoms, (*order, atom), bound | graph.atoms[atom])


def maximum_spanning_trees(graph: JoinGraph, members: Sequence[int]) -> Iterator[tuple[Edge, ...]]:
    """Every spanning tree of a connected part of the graph that has the greatest weight, as edges; lazily, for there
    may be very many.

    >>> list(maximum_spanning_trees(JoinGraph(atoms=(0b0011, 0b0111, 0b1100), output=0), [0, 1, 2]))
    [((0, 1), (1, 2))]
    """
    weighted: dict[int, list[Edge]] = {}
    for i, one in enumerate(members):
        for other in members[i + 1 :]:
            if weight := graph.weight(one, other):
                weighted.setdefault(weight, []).append((one, other))
    levels = [weighted[weight] for weight in sorted(weighted, reverse=True)]
    return _forests(levels, {atom: atom for atom in members}, ())


def _forests(
    levels: Sequence[list[Edge]], label: dict[int, int], chosen: tuple[Edge, ...]
) -> Iterator[tuple[Edge, ...]]:
    """Spanning forests of the heaviest edges first, as in Kruskal's algorithm: `label` says what is connected."""
    if not levels:
        yield chosen
        return
    for picked in _level_forests(levels[0], label):
        yield from _forests(levels[1:], _connected(label, picked), chosen + picked)


def _level_forests(edges: Sequence[Edge], label: dict[int, int]) -> Iterator[tuple[Edge, ...]]:
    """All largest forests among edges of one weight."""
    edges = [edge for edge in edges if label[edge[0]] != label[edge[1]]]
    if not edges:
        yield ()
        return
    first, rest = edges[0], edges[1:]
    for forest in _level_forests(rest, _connected(label, (first,))):
        yield (first, *forest)
    connected = _connected(label, rest)
    if connected[first[0]] == connected[first[1]]:  # the others do without it
        yield from _level_forests(rest, label)


def _connected(label: dict[int, int], edges: Sequence[Edge]) -> dict[int, int]:
    for one, other in edges:
        old, new = label[other], label[one]
        if old != new:
            label = {atom: new if known == old else known for atom, known in label.items()}
    return label

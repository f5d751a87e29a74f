"""The semijoin reductions of one rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flintlog.ir.nodes import Let, Node, Scan
from flintlog.ir.program import Relation, Rule
from flintlog.ir.scalar import Column
from flintlog.passes.fresh_names import fresh_name
from flintlog.passes.structural.conjunction import Atom, FloatJoin, conjunction_of, reads
from flintlog.passes.structural.join_graph import JoinGraph, absorb_semijoins, is_cyclic, is_indifferent
from flintlog.passes.structural.segment import Leaf, Output, Segment, whole_segment
from flintlog.passes.structural.tree import build_as_written, build_segment, graph_of, root_only, sorted_leaves
from flintlog.types import Field, Kind

# More of them have too many orders to compare.
MOST_ATOMS = 6


@dataclass
class Reduction:
    """A rule's new body, and the relations it reads, in the order in which they depend on one another. `grows` has
    those that depend on the rule's own stratum."""

    body: Node
    relations: list[Relation] = field(default_factory=list)
    bodies: list[Node] = field(default_factory=list)
    grows: set[str] = field(default_factory=set)

    def rules(self) -> Iterator[tuple[str, Node, bool]]:
        for relation, body in zip(self.relations, self.bodies, strict=True):
            yield relation.name, body, relation.name in self.grows


def reduce_rule(rule: Rule, own: frozenset[str], relations: Mapping[str, Relation], mark: str) -> Reduction | None:
    """The reduction of a rule; None where it cannot pay or is not surely right, and for rules that read relations with
    the qualifier `mark`, which have been made for a reduction."""
    try:
        return _reduce(rule, own, relations, mark)
    except FloatJoin:
        return None


def _reduce(rule: Rule, own: frozenset[str], relations: Mapping[str, Relation], mark: str) -> Reduction | None:
    found = whole_segment(conjunction_of(rule.body))
    if found is None or found[0].homes:
        return None
    written, output = found
    scans = [leaf.atom.source for leaf in written.leaves if isinstance(leaf.atom.source, Scan)]
    if len(scans) < len(written.leaves) or any(leaf.first for leaf in written.leaves):
        return None
    if not any(scan.relation in own for scan in scans) or any(mark in relations[s.relation].qualifiers for s in scans):
        return None
    segment = sorted_leaves(written)
    graph = graph_of(segment, output, own)
    filters = absorb_semijoins(graph)
    alive = [i for i in range(len(graph.atoms)) if i not in dict(filters)]
    if len(graph.components(alive)) > 1 or not _may_pay(graph, alive):
        return None
    return _Reducer(rule, segment, output, graph, own, relations).reduced(alive, filters, written)


def _may_pay(graph: JoinGraph, alive: Sequence[int]) -> bool:
    """Whether the atoms form a cycle in which no join order is better than another by its structure, and more than one
    of them grows: a rule that follows the changes of one atom meets, of the others, only rows that join with them."""
    growing = [i for i in alive if graph.growing >> i & 1]
    if not 3 <= len(alive) <= MOST_ATOMS or len(growing) < 2:
        return False
    core = JoinGraph(tuple(graph.atoms[i] for i in alive), graph.needed(sum(1 << i for i in range(len(graph.atoms)))))
    return is_cyclic(core) and is_indifferent(core, range(len(alive)))


@dataclass
class _Version:
    """An atom as far as it is reduced: the relation to read instead of it."""

    relation: str
    columns: tuple[Column, ...]
    grows: bool


class _Reducer:
    def __init__(
        self,
        rule: Rule,
        segment: Segment,
        output: Output,
        graph: JoinGraph,
        own: frozenset[str],
        relations: Mapping[str, Relation],
    ) -> None:
        self.rule, self.segment, self.output, self.graph, self.own = rule, segment, output, graph, own
        self.known = relations
        self.result = Reduction(rule.body)
        self.versions: dict[int, _Version] = {}
        self.taken = segment.names()
        self.groups: dict[int, list[int]] = {}

    def reduced(self, alive: Sequence[int], filters: Sequence[tuple[int, int]], written: Segment) -> Reduction:
        self.groups = {i: [i] for i in range(len(self.segment.leaves))}
        for atom, home in filters:
            self.groups[home] += self.groups[atom]
        order = self._visits(alive)
        if any(not isinstance(self.segment.steps[i], Let) for i in self._own_steps(order[0])):
            self._reduce(order[0], [])
        for place, atom in enumerate(order[1:], 1):
            self._reduce(atom, [other for other in order[:place] if self.graph.weight(atom, other)])
        for place in range(len(order) - 2, -1, -1):
            atom = order[place]
            self._reduce(atom, [other for other in order[place + 1 :] if self.graph.weight(atom, other)])
        position = {id(leaf): i for i, leaf in enumerate(written.leaves)}
        self.result.body = self._final(sorted(alive, key=lambda i: position[id(self.segment.leaves[i])]))
        return self.result

    def _visits(self, alive: Sequence[int]) -> list[int]:
        """Breadth first from the widest atom that does not grow; neighbours in the order of the columns they join."""
        start = min(alive, key=lambda i: (self.graph.growing >> i & 1, -self.graph.atoms[i].bit_count(), i))
        order = [start]
        for atom in order:
            for variable in self._leaf(atom).atom.variables:
                for other in alive:
                    if other not in order and self.graph.weight(atom, other):
                        if variable.name in self._leaf(other).names:
                            order.append(other)
        return order

    def _leaf(self, atom: int) -> Leaf:
        return self.segment.leaves[atom]

    def _reduce(self, atom: int, by: Sequence[int]) -> None:
        """A new version of an atom: its rows that have partners in all of `by`. The first one takes in its filters."""
        version = self.versions.get(atom)
        kept = self._kept(atom)
        if version is None:
            leaves = [self._leaf(i) for i in self.groups[atom]]
            steps = [step for i, step in enumerate(self.segment.steps) if i in self._own_steps(atom)]
            grows = any(self.graph.growing >> i & 1 for i in self.groups[atom])
        else:
            leaves, steps, grows = [self._read(version)], [], version.grows
        shared = {name for i in by for name in self._leaf(i).names}
        for other in by:
            leaf, other_grows = self._partner(other, {c.name for c in kept} & shared)
            leaves.append(leaf)
            grows = grows or other_grows
        grown = self.own | self.result.grows
        body = build_segment(Segment(leaves, steps), [(column.name, column) for column in kept], grown)
        self.versions[atom] = self._relation(atom, kept, body, grows)

    def _kept(self, atom: int) -> list[Column]:
        """The atom's variables that the rest of the rule asks for."""
        needed = self.graph.needed(sum(1 << i for i in self.groups[atom]))
        bits = {name: 1 << i for i, name in enumerate(self.graph.names)}
        variables = dict.fromkeys(self._leaf(atom).atom.variables)
        return [variable for variable in variables if bits.get(variable.name, 0) & needed]

    def _own_steps(self, atom: int) -> set[int]:
        """The steps that a reduced atom has behind it, and the computations they may need."""
        names = {name for i in self.groups[atom] for name in self._leaf(i).names}
        late = root_only(self.segment)
        return {
            i
            for i, step in enumerate(self.segment.steps)
            if isinstance(step, Let) or (i not in late and self.segment.bases(reads(step)) <= names)
        }

    def _partner(self, other: int, joined: set[str]) -> tuple[Leaf, bool]:
        """Another atom as it is now, with names of its own for what it is not joined on."""
        version = self.versions.get(other)
        if version is None:
            leaf, grows = self._leaf(other), bool(self.graph.growing >> other & 1)
        else:
            leaf, grows = self._read(version), version.grows
        atom = leaf.atom
        variables = tuple(
            v if v.name in joined else Column(fresh_name(v.name, self.taken), v.kind) for v in atom.variables
        )
        return Leaf(Atom(Scan(_relation_of(atom), variables), variables)), grows

    def _read(self, version: _Version) -> Leaf:
        return Leaf(Atom(Scan(version.relation, version.columns), version.columns))

    def _relation(self, atom: int, columns: Sequence[Column], body: Node, grows: bool) -> _Version:
        leaf = self._leaf(atom).atom
        source = self.known[_relation_of(leaf)]
        places = [leaf.variables.index(column) for column in columns]
        fields: tuple[Field, ...] = tuple(source.columns[place] for place in places)
        kinds: tuple[Kind, ...] = tuple(source.kinds[place] for place in places)
        name = f"{source.name}${self.rule.id}.{len(self.result.relations) + 1}"
        self.result.relations.append(Relation(name, fields, kinds, span=self.rule.span))
        self.result.bodies.append(body)
        if grows:
            self.result.grows.add(name)
        return _Version(name, tuple(columns), grows)

    def _final(self, order: Sequence[int]) -> Node:
        """The rule itself, over the reduced atoms in the order they were written."""
        done = set().union(*(self._own_steps(atom) for atom in order))
        lets = {i for i, step in enumerate(self.segment.steps) if isinstance(step, Let)}
        steps = [step for i, step in enumerate(self.segment.steps) if i in lets or i not in done]
        leaves = [self._read(self.versions[atom]) for atom in order]
        return build_as_written(Segment(leaves, steps), self.output, self.own | self.result.grows)


def _relation_of(atom: Atom) -> str:
    assert isinstance(atom.source, Scan)
    return atom.source.relation

"""The tree of a segment: its best join spanning tree, with filters, semijoins and antijoins as low as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from flintlog.ir.nodes import (
    AntiJoin,
    Each,
    FlatMap,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    SemiJoin,
    Shared,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.ir.text.node_printer import print_head
from flintlog.ir.visit import columns_of, walk
from flintlog.passes.fresh_names import fresh_name
from flintlog.passes.structural.conjunction import Absent, Atom, FloatJoin, reads
from flintlog.passes.structural.join_graph import JoinGraph
from flintlog.passes.structural.search import Rooted, best_trees
from flintlog.passes.structural.segment import Leaf, Output, Segment
from flintlog.types import Kind


def build_segment(segment: Segment, output: Output, own: frozenset[str]) -> Node:
    """The planned tree with the rows of `output`. `own` are the relations that grow while the tree is evaluated: what
    reads them is joined, since an engine follows the changes of a join's inputs. Raises FloatJoin."""
    segment = sorted_leaves(segment)
    builder = _Builder(segment, output, own)
    return builder.whole([builder.part(tree) for tree in best_trees(graph_of(segment, output, own))])


def build_as_written(segment: Segment, output: Output, own: frozenset[str]) -> Node:
    """The tree that joins the leaves one after the other. Raises FloatJoin."""
    builder = _Builder(segment, output, own)
    return builder.whole([builder.leaf(i) for i in range(len(segment.leaves))])


def sorted_leaves(segment: Segment) -> Segment:
    """The segment with its leaves in an order that does not depend on how the rule was written."""
    order = sorted(range(len(segment.leaves)), key=lambda i: _leaf_key(segment.leaves[i]))
    position = {old: new for new, old in enumerate(order)}
    homes = {step: position[leaf] for step, leaf in segment.homes.items()}
    return Segment([segment.leaves[i] for i in order], segment.steps, homes)


def _leaf_key(leaf: Leaf) -> tuple[str, tuple[str, ...]]:
    source = leaf.atom.source
    names = tuple(variable.name.partition("$")[0] for variable in leaf.atom.variables)
    return (source.relation if isinstance(source, Scan) else print_head(source), names)


# --- The join graph -------------------------------------------------------------------------------


def root_only(segment: Segment) -> set[int]:
    """The steps that run at the end: ranges, which multiply rows, and what depends on them."""
    late: set[int] = set()
    columns: set[str] = set()
    for i, step in enumerate(segment.steps):
        if i in segment.homes or isinstance(step, Let):
            continue
        if isinstance(step, Each) or segment.bases(reads(step)) & columns:
            late.add(i)
        if isinstance(step, Each):
            columns.add(step.column.name)
    return late


def graph_of(segment: Segment, output: Output, own: frozenset[str]) -> JoinGraph:
    """The join graph of a segment's leaves; only variables that more than one leaf needs, or the end, are in it."""
    late = root_only(segment)
    wanted = {name for _, value in output for name in segment.bases(columns_of(value))}
    spanning: list[frozenset[str]] = []
    for i, step in enumerate(segment.steps):
        bases = frozenset() if isinstance(step, Let) and i not in segment.homes else segment.bases(reads(step))
        if i in late:
            wanted |= bases
        elif i not in segment.homes and bases and not any(bases <= leaf.names for leaf in segment.leaves):
            spanning.append(bases)
    asked = wanted.union(*spanning)
    seen: set[str] = set()
    for leaf in segment.leaves:
        asked |= seen & leaf.names
        seen |= leaf.names
    bit = {name: 1 << i for i, name in enumerate(sorted(asked & seen))}

    def mask(names: Iterable[str]) -> int:
        return sum(bit.get(name, 0) for name in set(names))

    return JoinGraph(
        tuple(mask(leaf.names) for leaf in segment.leaves),
        mask(wanted),
        tuple(map(mask, spanning)),
        sum(1 << i for i, leaf in enumerate(segment.leaves) if grows(leaf.atom.source, own)),
        tuple(bit),
    )


def grows(node: Node, own: frozenset[str]) -> bool:
    """Whether a tree may read one of these relations."""
    scans = [part for part in walk(node) if isinstance(part, Scan | Shared)]
    return any(isinstance(scan, Shared) or scan.relation in own for scan in scans)


# --- Trees ----------------------------------------------------------------------------------------


@dataclass
class _Part:
    """A map or join that is still open: steps can be added until it is known what its reader needs. `columns` are those
    of its inputs and of its steps; `leaves` and `applied` say what has gone into it."""

    inputs: tuple[Node, ...]
    on: tuple[str, ...]
    columns: dict[str, Column]
    leaves: frozenset[int]
    steps: list[Step] = field(default_factory=list)
    applied: set[int] = field(default_factory=set)

    def node(self, output: Output) -> Node:
        if len(self.inputs) == 2:
            return JoinFlatMap(*self.inputs, self.on, tuple(self.steps), tuple(output))
        same = [(column.name, column) for column in self.inputs[0].schema] == list(output)
        return self.inputs[0] if same and not self.steps else FlatMap(self.inputs[0], tuple(self.steps), tuple(output))

    def is_bare(self) -> bool:
        return len(self.inputs) == 1 and not self.steps


class _Builder:
    def __init__(self, segment: Segment, output: Output, own: frozenset[str]) -> None:
        self.segment, self.output, self.own = segment, output, own
        self.wanted = {name for _, value in output for name in columns_of(value)}
        self.lets = segment.lets()
        self.late = root_only(segment)
        self.denied: set[int] = set()  # antijoins that stand somewhere; filters may stand in several places
        self.taken = segment.names()

    def whole(self, parts: Sequence[_Part]) -> Node:
        """The tree of all parts, joined in this order."""
        whole = parts[0]
        for part in parts[1:]:
            whole = self.join(whole, part)
        return self._finish(whole)

    def part(self, tree: Rooted) -> _Part:
        part = self.leaf(tree.atom)
        for child in tree.children:
            part = self.join(part, self.part(child))
        return part

    def leaf(self, index: int) -> _Part:
        leaf = self.segment.leaves[index]
        node, filters = self._source(leaf.atom)
        part = _Part((node,), (), {c.name: c for c in node.schema}, frozenset({index}), filters)
        for step in leaf.first:
            self._add(part, step)
        return self._dress(part, index)

    def _source(self, atom: Atom) -> tuple[Node, list[Step]]:
        """The atom's rows under its variables' names; a variable that stands twice is compared."""
        names: dict[str, Column] = {}
        filters: list[Step] = []
        for variable in atom.variables:
            if variable.name in names:
                if variable.kind is Kind.FLOAT:
                    raise FloatJoin
                again = Column(fresh_name(variable.name, self.taken), variable.kind)
                filters.append(Where(Compare("=", variable, again)))
                variable = again
            names[variable.name] = variable
        return renamed(atom.source, tuple(names.values())), filters

    # --- Steps ------------------------------------------------------------------------------------

    def _dress(self, part: _Part, leaf: int | None = None) -> _Part:
        """Puts on whatever can run now, filters first."""
        for i, step in enumerate(self.segment.steps):
            if i in part.applied or i in self.late or isinstance(step, Absent):
                continue
            if self.segment.homes.get(i, -1) == leaf or (isinstance(step, Where) and self._can_run(part, step)):
                self._add(part, step)
                part.applied.add(i)
        for i, step in enumerate(self.segment.steps):
            if isinstance(step, Absent) and i not in self.late | self.denied and self._can_run(part, step):
                part = self._deny(part, i, step)
        return part

    def _can_run(self, part: _Part, step: Absent | Step) -> bool:
        return all(self._can_have(part, name) for name in reads(step))

    def _can_have(self, part: _Part, name: str) -> bool:
        if name in part.columns:
            return True
        return name in self.lets and self._can_run(part, self.lets[name])

    def _add(self, part: _Part, step: Step) -> None:
        self._compute(part, reads(step))
        part.steps.append(step)
        if not isinstance(step, Where):
            part.columns[step.column.name] = step.column

    def _compute(self, part: _Part, names: Iterable[str]) -> None:
        for name in sorted(names):
            if name not in part.columns:
                self._add(part, self.lets[name])

    def _deny(self, part: _Part, index: int, step: Absent) -> _Part:
        self._compute(part, reads(step))
        on: list[Column] = []
        for variable in step.variables:
            if variable in on:
                copy = Column(fresh_name(variable.name, self.taken), variable.kind)
                self._add(part, Let(copy, variable))
                variable = copy
            on.append(variable)
        left = self._closed(part, {variable.name for variable in on})
        names = tuple(variable.name for variable in on)
        node = AntiJoin(left, self._right(step, on), names)
        self.denied.add(index)
        part.applied.add(index)
        return _Part((node,), (), {c.name: c for c in node.schema}, part.leaves, applied=part.applied)

    def _right(self, step: Absent, on: Sequence[Column]) -> Node:
        if step.on == tuple(column.name for column in on):
            return step.node
        names = dict(zip(step.on, on, strict=True))
        schema = [names.get(c.name) or Column(fresh_name(c.name, self.taken), c.kind) for c in step.node.schema]
        return renamed(step.node, tuple(schema))

    # --- Joins ------------------------------------------------------------------------------------

    def join(self, left: _Part, right: _Part) -> _Part:
        """The join of two parts, or a semijoin if one of them adds nothing but a filter."""
        if not right.columns.keys() - left.columns.keys() - self._unneeded(right):
            return self._semijoin(left, right)
        if not left.columns.keys() - right.columns.keys() - self._unneeded(left):
            return self._semijoin(right, left)
        if isinstance(left.inputs[0], Scan) and left.is_bare() and not right.is_bare():
            left, right = right, left  # a relation that is read as it stands is there with an index
        return self._joined(left, right, self._closed(left), self._closed(right))

    def _joined(self, left: _Part, right: _Part, one: Node, other: Node) -> _Part:
        on = tuple(c.name for c in one.schema if any(c.name == o.name for o in other.schema))
        columns = {c.name: c for c in (*one.schema, *other.schema)}
        part = _Part((one, other), on, columns, left.leaves | right.leaves, applied=left.applied | right.applied)
        return self._dress(part)

    def _semijoin(self, left: _Part, right: _Part) -> _Part:
        one, other = self._closed(left), self._closed(right)
        on = tuple(c.name for c in one.schema if c.name in right.columns.keys() - self._unneeded(right))
        # A filter of several atoms is joined too: who runs joins in an order of their own need not compute it first.
        if not on or len(right.leaves) > 1 or grows(other, self.own):
            if len(on) < len(other.schema):
                other = FlatMap(other, (), tuple((name, left.columns[name]) for name in on))
            return self._joined(left, right, one, other)
        node = SemiJoin(one, other, on)
        applied = left.applied | right.applied
        return self._dress(
            _Part((node,), (), {c.name: c for c in node.schema}, left.leaves | right.leaves, applied=applied)
        )

    def _closed(self, part: _Part, also: Iterable[str] = ()) -> Node:
        """The part's node with the columns that are still needed. A relation without filters stays whole: projecting it
        costs a copy, and what is not needed goes with the join that reads it."""
        if part.is_bare():
            return part.inputs[0]
        dropped = self._unneeded(part) - set(also)
        return part.node([(name, column) for name, column in part.columns.items() if name not in dropped])

    def _unneeded(self, part: _Part) -> set[str]:
        """The columns that nothing outside the part asks for."""
        wanted = set(self.wanted)
        for i, leaf in enumerate(self.segment.leaves):
            if i not in part.leaves:
                wanted |= leaf.names
        for i, step in enumerate(self.segment.steps):
            done = i in part.applied or i in self.denied or (isinstance(step, Let) or i in self.segment.homes)
            if not done:
                wanted |= reads(step)
        return part.columns.keys() - self._sources(part, wanted)

    def _sources(self, part: _Part, names: Iterable[str]) -> set[str]:
        """The columns of a part by which it gives variables: itself, or what it is computed from."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in part.columns:
                found.add(name)
            elif name in self.lets:
                waiting += reads(self.lets[name])
        return found

    # --- The end ----------------------------------------------------------------------------------

    def _finish(self, part: _Part) -> Node:
        """The root: ranges and what depends on them, then the output."""
        for i in sorted(self.late):
            step = self.segment.steps[i]
            if isinstance(step, Absent):
                part = self._deny(part, i, step)
            else:
                self._add(part, step)
                part.applied.add(i)
        self._compute(part, self.wanted)
        return part.node(self.output)


def renamed(node: Node, schema: tuple[Column, ...]) -> Node:
    """The node with other names for its columns."""
    if node.schema == schema:
        return node
    if isinstance(node, Scan | Values | Shared):
        return replace(node, schema=schema)
    if isinstance(node, Unit):
        return node
    output: list[tuple[str, Scalar]] = [(new.name, old) for new, old in zip(schema, node.schema, strict=True)]
    return FlatMap(node, (), tuple(output))

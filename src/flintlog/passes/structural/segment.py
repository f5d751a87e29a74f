"""A conjunction cut into segments that may be reordered freely.

What can fail at run time waits for everything before it, which may be there to keep bad operands away: it ends a
segment, and the segment's rows are one source for the next. So does a computation from several atoms whose result other
atoms join on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from flintlog.ir.nodes import Each, Let, Node, Step, Unit, Where
from flintlog.ir.scalar import Column, Compare, Const, Scalar
from flintlog.ir.visit import rewrite_step, substitute, terms_of, walk_scalar
from flintlog.passes.fresh_names import fresh_name
from flintlog.passes.structural.conjunction import (
    Absent,
    Atom,
    Conjunction,
    Literal,
    can_fail,
    compared,
    reads,
)
from flintlog.types import Kind

Output: TypeAlias = Sequence[tuple[str, Scalar]]


@dataclass
class Leaf:
    """An atom and the computations that belong to it: `first` runs on its rows before anything else."""

    atom: Atom
    first: list[Step] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.names |= self.atom.names | {step.column.name for step in self.first if not isinstance(step, Where)}


@dataclass
class Segment:
    """`steps` run in this order as soon as their variables are bound; `homes` says which leaf computes a step whose
    variable others join on. A Let that stands in no leaf runs where it is asked for."""

    leaves: list[Leaf] = field(default_factory=list)
    steps: list[Absent | Step] = field(default_factory=list)
    homes: dict[int, int] = field(default_factory=dict)

    def lets(self) -> dict[str, Let]:
        """The computations that belong to no leaf, by variable."""
        return {s.column.name: s for i, s in enumerate(self.steps) if isinstance(s, Let) and i not in self.homes}

    def bases(self, names: Iterable[str]) -> frozenset[str]:
        """The variables of leaves (and of ranges) that variables are computed from."""
        lets = self.lets()
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in lets:
                waiting += reads(lets[name])
            else:
                found.add(name)
        return frozenset(found)

    def home(self, step: Let | Each) -> int | None:
        """The leaf that can compute a variable to join on: it has what the step reads, but not its result."""
        needed = self.bases(reads(step))
        for i, leaf in enumerate(self.leaves):
            if needed and needed <= leaf.names and step.column.name not in leaf.names:
                return i
        return None

    def names(self) -> set[str]:
        """All variables that are bound in the segment."""
        bound = {s.column.name for s in self.steps if isinstance(s, Let | Each)}
        return bound.union(*(leaf.names for leaf in self.leaves))


def plan_segments(conjunction: Conjunction, build: Callable[[Segment, Output], Node]) -> Node:
    """The tree of a conjunction, where `build` makes that of a segment. Raises FloatJoin."""
    literals, output = _constants_out(conjunction)
    joined = {name for literal in literals if isinstance(literal, Atom) for name in literal.names}
    taken = _all_names(literals)
    segment = Segment()
    pending = list(literals)
    while pending:
        literal = pending.pop(0)
        if isinstance(literal, Atom):
            segment.leaves.append(Leaf(literal))
            continue
        if isinstance(literal, Let | Each) and literal.column.name in joined:
            # A range may be long but for what stands before it.
            home = None if can_fail(literal) or isinstance(literal, Each) else segment.home(literal)
            if home is not None:
                segment.homes[len(segment.steps)] = home
                segment.leaves[home].names.add(literal.column.name)
            elif any(literal.column.name in leaf.names for leaf in segment.leaves):
                pending[:0] = compared(literal, taken)
                continue
            else:
                segment = _closed(segment, literal, pending, output, build)
                continue
        elif can_fail(literal):
            assert not isinstance(literal, Absent)
            segment = _closed(segment, literal, pending, output, build)
            continue
        segment.steps.append(literal)
    return build(_grounded(segment), output)


def whole_segment(conjunction: Conjunction) -> tuple[Segment, Output] | None:
    """The conjunction as one segment; None if it has to be cut. Raises FloatJoin."""
    found: list[tuple[Segment, Output]] = []

    def keep(segment: Segment, output: Output) -> Node:
        found.append((segment, output))
        return Unit()

    plan_segments(conjunction, keep)
    return found[0] if len(found) == 1 else None


def _grounded(segment: Segment) -> Segment:
    if not segment.leaves:
        segment.leaves.append(Leaf(Atom(Unit(), ())))
    return segment


def _closed(
    segment: Segment,
    step: Step,
    later: Iterable[Literal],
    output: Output,
    build: Callable[[Segment, Output], Node],
) -> Segment:
    """A segment that begins with the rows of this one, on which the step runs."""
    if len(segment.leaves) == 1 and not segment.steps:
        only = segment.leaves[0]
        return Segment([Leaf(only.atom, [*only.first, step])])
    columns = {column.name: column for column in _columns([*later, step], output)}
    kept = [column for name, column in columns.items() if name in segment.names()]
    node = build(_grounded(segment), [(column.name, column) for column in kept])
    return Segment([Leaf(Atom(node, node.schema), [step])])


def _columns(literals: Iterable[Literal], output: Output) -> list[Column]:
    """The columns that literals and output mention."""
    found: list[Column] = []
    for literal in literals:
        if isinstance(literal, Atom | Absent):
            found += literal.variables
        else:
            found += [part for term in terms_of(literal) for part in walk_scalar(term) if isinstance(part, Column)]
    found += [part for _, value in output for part in walk_scalar(value) if isinstance(part, Column)]
    return found


def _all_names(literals: Iterable[Literal]) -> set[str]:
    names = {column.name for column in _columns(literals, ())}
    return names | {literal.column.name for literal in literals if isinstance(literal, Let | Each)}


def _constants_out(conjunction: Conjunction) -> tuple[list[Literal], Output]:
    """With `y = 5` as a filter of the atoms that have `y`, and as 5 everywhere else: nothing is joined on it."""
    atoms = [name for atom in conjunction.atoms for name in atom.names]
    constants: dict[str, Scalar] = {
        step.column.name: step.value
        for step in conjunction.literals
        if isinstance(step, Let) and isinstance(step.value, Const)
        if step.column.name in atoms and step.column.kind is not Kind.FLOAT
    }
    if not constants:
        return list(conjunction.literals), conjunction.output
    taken = _all_names(conjunction.literals)
    result: list[Literal] = []
    for literal in conjunction.literals:
        match literal:
            case Atom():
                result.append(literal)
                bound = [v for v in dict.fromkeys(literal.variables) if v.name in constants]
                result += [Where(Compare("=", variable, constants[variable.name])) for variable in bound]
            case Absent():
                replaced = {
                    v: replace(v, name=fresh_name(v.name, taken)) for v in literal.variables if v.name in constants
                }
                result += [Let(column, constants[v.name]) for v, column in replaced.items()]
                result.append(replace(literal, variables=tuple(replaced.get(v, v) for v in literal.variables)))
            case Let(column, _) if column.name in constants:
                pass
            case Where() | Let() | Each():
                result.append(rewrite_step(literal, lambda s: constants.get(s.name, s) if isinstance(s, Column) else s))
    return result, [(name, substitute(value, constants)) for name, value in conjunction.output]

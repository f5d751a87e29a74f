"""What a conjunction asks of the relations it reads: for which constants and bound variables it needs their rows.

A variable is bound if a constant reaches it: through an equality, through an atom that shares a bound variable, or from
the demand on the head. What an atom is asked for is asked under the condition of the atoms that bind its variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flintlog.ir.nodes import Aggregate, ConcatAll, Each, Let, Node, Scan, Values, Where, children
from flintlog.ir.scalar import Column, Compare, Const, Scalar
from flintlog.passes.fresh_names import fresh_name
from flintlog.passes.structural.conjunction import (
    Absent,
    Atom,
    Conjunction,
    Literal,
    can_fail,
    conjunction_of,
    reads,
)
from flintlog.types import Kind


@dataclass(frozen=True, eq=False)
class Call:
    """The rows of a relation that have these values at these positions are asked for, wherever `condition` holds."""

    relation: str
    arguments: Mapping[int, Scalar]
    condition: tuple[Literal, ...]


def conjunctions_in(node: Node) -> Iterator[Conjunction]:
    """The conjunction of a tree, then those of the trees inside it: of aggregates, unions and negations. Raises
    FloatJoin."""
    conjunction = conjunction_of(node)
    yield conjunction
    for literal in conjunction.literals:
        match literal:
            case Atom(Aggregate() | ConcatAll() as source, _):
                for child in children(source):
                    yield from conjunctions_in(child)
            case Absent(source, _, _) if not isinstance(source, Scan):
                yield from conjunctions_in(source)
            case _:
                pass


def guard_of(conjunction: Conjunction, relation: str, positions: Sequence[int]) -> Atom:
    """The atom that asks whether the head of a rule is wanted: `relation` holds what its `positions` are asked for."""
    taken = {name for atom in conjunction.atoms for name in atom.names}
    taken |= {step.column.name for step in conjunction.literals if isinstance(step, Let | Each)}
    values = [conjunction.output[position][1] for position in positions]
    variables = tuple(
        value if isinstance(value, Column) else Column(fresh_name("$", taken), value.kind) for value in values
    )
    return Atom(Scan(relation, variables), variables)


def calls_in(
    conjunction: Conjunction, guard: Atom | None, asked: frozenset[str], seeds: frozenset[str]
) -> Iterator[Call]:
    """The calls of the relations in `asked`, one for each atom and negation that reads one. `seeds` are relations of a
    few constants."""
    known = _Known(conjunction, guard)
    waiting = list(conjunction.atoms)
    while waiting:
        atom = known.next(waiting, asked, seeds)
        if atom is None:
            break
        waiting.remove(atom)
        if isinstance(atom.source, Scan) and atom.source.relation in asked:
            yield known.call(atom.source.relation, dict(enumerate(atom.variables)))
        known.place(atom)
    for atom in waiting:
        if isinstance(atom.source, Scan) and atom.source.relation in asked:
            yield Call(atom.source.relation, {}, ())
    for literal in conjunction.literals:
        if isinstance(literal, Absent) and isinstance(literal.node, Scan) and literal.node.relation in asked:
            at = {column.name: i for i, column in enumerate(literal.node.schema)}
            variables = {at[name]: variable for name, variable in zip(literal.on, literal.variables, strict=True)}
            yield known.call(literal.node.relation, variables)


class _Known:
    """The variables that are bound so far, and the atoms that bind them."""

    def __init__(self, conjunction: Conjunction, guard: Atom | None) -> None:
        self.conjunction = conjunction
        self.placed: list[Atom] = [guard] if guard else []
        self.bound: set[str] = set(guard.names) if guard else set()
        self.constants = _constants(conjunction)
        # A Let that only gives another name: the one is as good as the other.
        self.names = {
            step.column.name: step.value
            for step in conjunction.literals
            if isinstance(step, Let) and isinstance(step.value, Column)
        }

    def value(self, variable: Column) -> Scalar | None:
        """The constant or bound variable that a variable is equal to."""
        seen: set[str] = set()
        while variable.name not in seen:
            if variable.name in self.constants:
                return self.constants[variable.name]
            if variable.name in self.bound:
                return variable
            seen.add(variable.name)
            variable = self.names.get(variable.name, variable)
        return None

    def next(self, waiting: Sequence[Atom], asked: frozenset[str], seeds: frozenset[str]) -> Atom | None:
        """An atom with a bound variable, or one of constants; rather one that nothing needs to be asked of."""

        def rank(atom: Atom) -> int:
            match atom.source:
                case Values():
                    return 0
                case Scan(relation) if relation in seeds:
                    return 0
                case Scan(relation):
                    reached = any(self.value(variable) is not None for variable in atom.variables)
                    return (1 if relation not in asked else 2) if reached else 3
                case _:
                    return 3

        best = min(waiting, key=rank)
        return best if rank(best) < 3 else None

    def place(self, atom: Atom) -> None:
        self.placed.append(atom)
        self.bound |= atom.names

    def call(self, relation: str, variables: Mapping[int, Column]) -> Call:
        values = {position: self.value(variable) for position, variable in variables.items()}
        arguments = {position: value for position, value in values.items() if value is not None}
        return Call(relation, arguments, tuple(self._condition()))

    def _condition(self) -> list[Literal]:
        """The atoms placed so far, with the filters that they bind."""
        bound = {name for atom in self.placed for name in atom.names}
        return [*self.placed, *(step for step in self.conjunction.literals if _filters(step, bound))]


def _filters(literal: Literal, bound: set[str]) -> bool:
    """Whether a literal says something about bound variables, and nothing that may fail or be computed."""
    match literal:
        case Where():
            return bool(reads(literal)) and reads(literal) <= bound and not can_fail(literal)
        case Let(column, Const() | Column()):
            return column.name in bound and reads(literal) <= bound
        case _:
            return False


def _constants(conjunction: Conjunction) -> dict[str, Const]:
    """The variables that equal a constant. Floats do not count: NaN equals nothing."""
    found: dict[str, Const] = {}
    for literal in conjunction.literals:
        match literal:
            case Where(Compare("=", Column() as variable, Const() as value)):
                found[variable.name] = value
            case Where(Compare("=", Const() as value, Column() as variable)) | Let(variable, Const() as value):
                found[variable.name] = value
            case _:
                pass
    return {name: value for name, value in found.items() if value.kind is not Kind.FLOAT}

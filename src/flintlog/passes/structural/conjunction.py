"""A tree of joins, filters and computations as one conjunction: literals over variables, in the tree's order.

What is no conjunction (aggregates, unions, constants, shared subplans) is a source of rows as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
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
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.ir.visit import columns_of, rewrite_scalar, rewrite_step, terms_of
from flintlog.passes.fresh_names import fresh_name
from flintlog.types import Kind


@dataclass(frozen=True, eq=False)
class Atom:
    """The variables take the values of some row of the source, column by column."""

    source: Node
    variables: tuple[Column, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(variable.name for variable in self.variables)


@dataclass(frozen=True, eq=False)
class Absent:
    """No row of the node has the variables' values in its columns `on`."""

    node: Node
    on: tuple[str, ...]
    variables: tuple[Column, ...]


Literal: TypeAlias = Atom | Absent | Step


@dataclass(frozen=True, eq=False)
class Conjunction:
    """The rows of `output` for every binding of the variables under which all literals hold. A literal's variables are
    bound by literals before it. A variable that a Let or Each binds may stand in atoms too, and is joined on then."""

    literals: tuple[Literal, ...]
    output: tuple[tuple[str, Scalar], ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(literal for literal in self.literals if isinstance(literal, Atom))


def conjunction_of(node: Node) -> Conjunction:
    """The conjunction that a tree is. Raises FloatJoin for the rare one that cannot be written as one.

    >>> x, y, z = (Column(name, Kind.NUMBER) for name in "xyz")
    >>> tree = JoinFlatMap(Scan("e", (x, y)), Scan("e", (y, z)), ("y",), (), (("a", x), ("b", z)))
    >>> for atom in conjunction_of(tree).atoms:
    ...     print(atom.source.relation, *(variable.name for variable in atom.variables))
    e x y
    e y z
    """
    reader = _Reader()
    output = reader.read(node)
    return Conjunction(tuple(reader.resolved()), tuple((name, reader.scalar(value)) for name, value in output))


def reads(literal: Absent | Step) -> frozenset[str]:
    """The variables a literal needs before it can run."""
    if isinstance(literal, Absent):
        return frozenset(variable.name for variable in literal.variables)
    return frozenset(name for term in terms_of(literal) for name in columns_of(term))


def can_fail(literal: Absent | Step) -> bool:
    """Whether the program ends with an error if the literal sees operands that one before it would have kept out."""
    return not isinstance(literal, Absent) and any(may_fail(term) for term in terms_of(literal))


class FloatJoin(Exception):
    """Two floats have to be equal as a join sees it, where only a comparison could say so: NaN equals nothing, but a
    join finds it."""


class _Reader:
    def __init__(self) -> None:
        self.literals: list[Literal] = []
        self.same: dict[str, Column] = {}  # variables that turned out to be others
        self.taken: set[str] = set()

    def read(self, node: Node) -> Sequence[tuple[str, Scalar]]:
        """Adds the literals of the root; what it gives out may still be computed."""
        if isinstance(node, FlatMap | JoinFlatMap):
            names = self._steps(self._inputs(node), node.steps)
            return [(name, _renamed(value, names)) for name, value in node.output]
        names = self._visit(node)
        return [(column.name, names[column.name]) for column in node.schema]

    def _visit(self, node: Node) -> dict[str, Column]:
        """Adds the node's literals; returns the variable of each of its columns."""
        match node:
            case Unit():
                return {}
            case FlatMap() | JoinFlatMap():
                names = self._steps(self._inputs(node), node.steps)
                return {name: self._variable(name, _renamed(value, names)) for name, value in node.output}
            case SemiJoin():
                names = self._visit(node.left)
                right = self._visit(node.right)
                for name in node.on:
                    self._unify(names[name], right[name])
                return names
            case AntiJoin():
                names = self._visit(node.left)
                self.literals.append(Absent(node.right, node.on, tuple(names[name] for name in node.on)))
                return names
            case Scan() | Values() | Aggregate() | ConcatAll() | Shared():
                variables = {column.name: self._new(column) for column in node.schema}
                self.literals.append(Atom(node, tuple(variables.values())))
                return variables

    def _inputs(self, node: FlatMap | JoinFlatMap) -> dict[str, Column]:
        if isinstance(node, FlatMap):
            return self._visit(node.input)
        names = self._visit(node.left)
        for name, variable in self._visit(node.right).items():
            if name in node.on:
                self._unify(names[name], variable)
            else:
                names[name] = variable
        return names

    def _steps(self, names: dict[str, Column], steps: Iterable[Step]) -> dict[str, Column]:
        names = dict(names)
        for step in steps:
            step = rewrite_step(step, lambda part: names[part.name] if isinstance(part, Column) else part)
            if not isinstance(step, Where):
                variable = self._new(step.column)
                names[step.column.name] = variable
                step = replace(step, column=variable)
            self.literals.append(step)
        return names

    def _variable(self, name: str, value: Scalar) -> Column:
        """The variable that has a value, made for it if it is computed."""
        if isinstance(value, Column):
            return value
        variable = self._new(Column(name, value.kind))
        self.literals.append(Let(variable, value))
        return variable

    def _new(self, like: Column) -> Column:
        return Column(fresh_name(like.name, self.taken), like.kind)

    def _unify(self, left: Column, right: Column) -> None:
        left, right = self._final(left), self._final(right)
        if left != right:
            self.same[right.name] = left

    def _final(self, variable: Column) -> Column:
        while variable.name in self.same:
            variable = self.same[variable.name]
        return variable

    def scalar(self, scalar: Scalar) -> Scalar:
        return rewrite_scalar(scalar, self._resolve)

    def _resolve(self, scalar: Scalar) -> Scalar:
        return self._final(scalar) if isinstance(scalar, Column) else scalar

    def resolved(self) -> list[Literal]:
        """The literals in terms of the variables that are left. A second computation of a variable is a comparison."""
        computed: set[str] = set()
        result: list[Literal] = []
        for literal in self.literals:
            match literal:
                case Atom():
                    literal = replace(literal, variables=tuple(map(self._final, literal.variables)))
                case Absent():
                    literal = replace(literal, variables=tuple(map(self._final, literal.variables)))
                case Where():
                    literal = rewrite_step(literal, self._resolve)
                case Let() | Each():
                    result += self._binder(literal, computed)
                    continue
            result.append(literal)
        return result

    def _binder(self, step: Let | Each, computed: set[str]) -> list[Literal]:
        rewritten = rewrite_step(step, self._resolve)
        assert isinstance(rewritten, Let | Each)
        rewritten = replace(rewritten, column=self._final(step.column))
        if rewritten.column.name in computed:
            return compared(rewritten, self.taken)
        computed.add(rewritten.column.name)
        return [rewritten]


def compared(step: Let | Each, taken: set[str]) -> list[Literal]:
    """What binds a variable, as a test of it: it is bound elsewhere."""
    if step.column.kind is Kind.FLOAT:
        raise FloatJoin
    if isinstance(step, Let):
        return [Where(Compare("=", step.column, step.value))]
    each = Column(fresh_name(step.column.name, taken), step.column.kind)
    return [replace(step, column=each), Where(Compare("=", step.column, each))]


def _renamed(scalar: Scalar, names: dict[str, Column]) -> Scalar:
    return rewrite_scalar(scalar, lambda part: names[part.name] if isinstance(part, Column) else part)

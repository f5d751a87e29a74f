"""A whole program in the IR: relations, and the rules of each stratum as trees of relational nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from flintlog.ir.nodes import Node
from flintlog.ir.scalar import Scalar
from flintlog.source import NOWHERE, Span
from flintlog.types import Field, Kind, TypeTable

# In a Relation's merge expressions: the value that stands in the relation, and the one that comes.
OLD, NEW = "old", "new"


@dataclass(frozen=True)
class Relation:
    """A relation's columns, and what insertion means.

    - `representation` "eqrel": the relation is the smallest equivalence that holds its rows.
    - `choice`: for each of these column sets, the first row with given values there keeps later ones out.
    - `merge`: an expression over columns `old` and `new` for the columns whose values combine (min, max, a lattice's
      least upper bound); rows that agree on the other columns become one. None elsewhere; empty if no column merges.
    - `limit`: a recursive stratum stops when the relation has this many rows.
    - `delta_of`: the relation records another one's new rows, each with the number of its round.
    """

    name: str
    columns: tuple[Field, ...]
    kinds: tuple[Kind, ...]
    representation: str = ""
    qualifiers: frozenset[str] = frozenset()
    choice: tuple[tuple[int, ...], ...] = ()
    merge: tuple[Scalar | None, ...] = ()
    limit: int | None = None
    delta_of: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @cached_property
    def key(self) -> tuple[int, ...]:
        """The columns that do not merge."""
        return tuple(i for i in range(len(self.columns)) if not self.merge or self.merge[i] is None)


@dataclass(frozen=True)
class Rule:
    """The rows of `body` belong to `relation`. `id` is unique in a program and stays with what passes make of the rule.
    `plan` is what the user pinned with `.plan`: version and order of atoms, counted from 1."""

    id: int
    relation: str
    body: Node
    plan: tuple[tuple[int, tuple[int, ...]], ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Subsumption:
    """`body` has the columns of a dominated row, then those of the row that dominates it; the first goes if both stand
    in the relation and differ."""

    id: int
    relation: str
    body: Node
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Stratum:
    """Relations that are computed together, after all earlier strata."""

    relations: tuple[str, ...]
    recursive: bool
    rules: tuple[Rule, ...] = ()
    subsumptions: tuple[Subsumption, ...] = ()


@dataclass(frozen=True)
class IoDirective:
    """`kind` is input, output or printsize."""

    kind: str
    relation: str
    params: tuple[tuple[str, str], ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class UserFunction:
    """The signature of a function the user wrote. `result_type` is the type by which its results are checked."""

    name: str
    params: tuple[Kind, ...]
    result: Kind
    stateful: bool = False
    result_type: str = field(default="", compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """`shared` holds the subplans that `Shared` nodes point to."""

    types: TypeTable
    relations: Mapping[str, Relation]
    strata: tuple[Stratum, ...]
    io: tuple[IoDirective, ...] = ()
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    shared: Mapping[int, Node] = field(default_factory=dict)

    @cached_property
    def inputs(self) -> Mapping[str, IoDirective]:
        """The last `.input` of each relation that has one."""
        return {directive.relation: directive for directive in self.io if directive.kind == "input"}

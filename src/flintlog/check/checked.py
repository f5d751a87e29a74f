"""The checked program: flat, resolved and typed. What the checks establish and lowering relies on.

- Components are instantiated; every name is fully qualified (`inst.rel`).
- Every clause has one head and a conjunctive body; disjunction and nested negation are gone.
- No argument node is shared between clauses, so a node's identity can carry its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flintlog.diagnostics import Diagnostic
from flintlog.source import NOWHERE, Span
from flintlog.syntax import ast
from flintlog.types import Kind, TypeTable


@dataclass(frozen=True)
class NegatedAtom(ast.Node):
    """`!rel(a, b)`"""

    atom: ast.Atom


# Bodies of aggregates inside arguments keep the form of `ast.Body`, but only as an ast.Conjunction of, or a single,
# Atom, Constraint, BoolLit or Negation directly around an Atom.
Literal: TypeAlias = ast.Atom | NegatedAtom | ast.Constraint | ast.BoolLit


@dataclass(frozen=True)
class Clause(ast.Node):
    """`head :- body.` `origin` numbers the rule in the source it came from: the clauses of one rule with several heads
    or a disjunction share it."""

    head: ast.Atom
    body: tuple[Literal, ...]
    plan: ast.Plan | None = None
    origin: int = 0


@dataclass(frozen=True)
class SubsumptiveClause(ast.Node):
    """`dominated <= dominating :- body.`; the body does not repeat the two atoms."""

    dominated: ast.Atom
    dominating: ast.Atom
    body: tuple[Literal, ...]
    plan: ast.Plan | None = None
    origin: int = 0


@dataclass(frozen=True)
class Relation:
    """`head_aggregates` has, for each column, the aggregate its rules apply in their heads (FlowLog's MIN(x)) or None.
    `representation` is "", "btree", "brie", "eqrel" or "btree_delete". `choice_domains` are column positions."""

    name: str
    attributes: tuple[ast.Attribute, ...]
    qualifiers: frozenset[str]
    representation: str = ""
    choice_domains: tuple[tuple[int, ...], ...] = ()
    head_aggregates: tuple[str | None, ...] = ()
    delta_of: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def is_inline(self) -> bool:
        return "inline" in self.qualifiers


@dataclass(frozen=True)
class Lattice:
    """`bottom` is a ground argument; `lub` and `glb` are arguments with two `_` for the operands, in order."""

    name: str
    bottom: ast.Argument | None
    lub: ast.Argument | None
    glb: ast.Argument | None


@dataclass(frozen=True)
class Stratum:
    """Relations that depend on one another, in one strongly connected component."""

    relations: tuple[str, ...]
    recursive: bool


@dataclass(frozen=True, eq=False)
class CheckedProgram:
    """`kinds` maps the identity (`id`) of every argument node of every clause to its kind. `strata` are in an order of
    evaluation; inline relations do not occur in them."""

    types: TypeTable
    relations: Mapping[str, Relation]
    clauses: tuple[Clause, ...]
    subsumptions: tuple[SubsumptiveClause, ...]
    functors: Mapping[str, ast.FunctorDecl]
    lattices: Mapping[str, Lattice]
    directives: tuple[ast.Directive, ...]
    pragmas: tuple[ast.Pragma, ...]
    strata: tuple[Stratum, ...]
    kinds: Mapping[int, Kind]
    warnings: tuple[Diagnostic, ...] = ()

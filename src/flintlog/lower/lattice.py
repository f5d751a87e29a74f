"""Lattice columns: rows with the same key combine by least upper bound; a variable that meets several lattice columns
in a body takes their greatest lower bound, and the rule holds only where that is not bottom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.lower.clause import (
    Atom,
    Fresh,
    Literal,
    Substitution,
    Term,
    Test,
    TypedClause,
    Wildcard,
    columns_in,
    literal_columns,
    substitute_literal,
    substitute_scalar,
)

# The operands of a lattice's operators, to be replaced.
LEFT, RIGHT = "$left", "$right"


@dataclass(frozen=True)
class LatticeOps:
    """A lattice in scalars: `lub` and `glb` over the columns LEFT and RIGHT."""

    bottom: Scalar | None
    lub: Scalar | None
    glb: Scalar | None


def apply_operator(operator: Scalar, left: Scalar, right: Scalar) -> Scalar:
    return substitute_scalar(operator, {LEFT: left, RIGHT: right})


def meet_lattice_columns(
    clause: TypedClause, lattices: Mapping[str, Sequence[LatticeOps | None]], fresh: Fresh
) -> TypedClause:
    """The clause with greatest lower bounds made explicit. `lattices` has the lattice of each column, by relation."""
    places = dict(_lattice_variables(clause, lattices))
    uses = [*columns_in(clause.head), *(c for literal in clause.body for c in literal_columns(literal))]
    places = {column: ops for column, ops in places.items() if uses.count(column) > 1}
    body: list[Literal] = []
    tests: list[Literal] = []
    met: dict[Column, list[Scalar]] = {column: [] for column in places}
    plain = {column: fresh.column(column.kind) for column in places}
    for literal in clause.body:
        if not isinstance(literal, Atom):
            to: Substitution = {column.name: plain[column] for column in places}
            if any(c in places for c in literal_columns(literal)):
                met |= {
                    c: [*met[c], plain[c]] for c in literal_columns(literal) if c in places and plain[c] not in met[c]
                }
            body.append(substitute_literal(literal, to))
            continue
        args: list[Term] = []
        for arg, ops in zip(literal.args, lattices.get(literal.relation, [None] * len(literal.args)), strict=True):
            if isinstance(arg, Column) and arg in places:
                use = fresh.column(arg.kind) if ops else plain[arg]
                if use not in met[arg]:
                    met[arg].append(use)
                args.append(use)
            elif ops and ops.glb and ops.bottom and not isinstance(arg, Column | Wildcard):
                use = fresh.column(arg.kind)
                tests.append(Test(Compare("!=", apply_operator(ops.glb, use, arg), ops.bottom), literal.span))
                args.append(use)
            else:
                args.append(arg)
        body.append(replace(literal, args=tuple(args)))
    for column, ops in places.items():
        assert ops.glb is not None and ops.bottom is not None
        meet = met[column][0]
        for other in met[column][1:]:
            meet = apply_operator(ops.glb, other, meet)
        tests.append(Test(Compare("=", column, meet), clause.span))
        tests.append(Test(Compare("!=", column, ops.bottom), clause.span))
    return replace(clause, body=(*body, *tests))


def _lattice_variables(
    clause: TypedClause, lattices: Mapping[str, Sequence[LatticeOps | None]]
) -> Iterator[tuple[Column, LatticeOps]]:
    """The variables that stand in a lattice column of some atom of the body, with the lattice."""
    for literal in clause.body:
        if isinstance(literal, Atom) and literal.relation in lattices:
            for arg, ops in zip(literal.args, lattices[literal.relation], strict=True):
                if isinstance(arg, Column) and ops is not None and ops.glb is not None and ops.bottom is not None:
                    yield arg, ops

"""Lattice columns in the bodies of clauses.

Rows with the same key combine by least upper bound (ir.Relation.merge), so that a row with value v stands for every
value below v. An atom therefore matches a value that is known from elsewhere if the row's value is at least that; a
variable that meets several lattice columns takes the greatest lower bound of theirs, unless that is bottom; and an atom
is denied by a row whose value has nothing in common with the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.scalar import Column, Compare, MakeBranch, MakeRecord, Scalar
from flintlog.ir.visit import substitute
from flintlog.lower.clause import (
    Atom,
    Fresh,
    Generate,
    Literal,
    Negated,
    Summarise,
    Term,
    Test,
    TypedClause,
    Wildcard,
    columns_in,
    literal_columns,
)

# The operands of a lattice's operators, to be replaced.
LEFT, RIGHT = "$left", "$right"


@dataclass(frozen=True)
class LatticeOps:
    """A lattice in scalars: `lub` and `glb` over the columns LEFT and RIGHT."""

    bottom: Scalar | None
    lub: Scalar | None
    glb: Scalar | None

    def meet(self, left: Scalar, right: Scalar) -> Scalar:
        assert self.glb is not None
        return apply_operator(self.glb, left, right)


def apply_operator(operator: Scalar, left: Scalar, right: Scalar) -> Scalar:
    return substitute(operator, {LEFT: left, RIGHT: right})


class LatticeClauses:
    """`columns` has the lattice of each column, by relation. One without bottom or greatest lower bound is matched as
    any other column."""

    def __init__(self, columns: Mapping[str, Sequence[LatticeOps | None]], fresh: Fresh) -> None:
        usable = {
            name: [ops if ops and ops.glb and ops.bottom else None for ops in lattices]
            for name, lattices in columns.items()
        }
        self.columns = {name: lattices for name, lattices in usable.items() if any(lattices)}
        self.fresh = fresh

    def expand(self, clause: TypedClause) -> Iterator[TypedClause]:
        """The clauses that together mean this one, with the lattices' operators made explicit."""
        choices = [self._denials(literal) for literal in clause.body]
        for body in product(*choices):
            literals = [literal for part in body for literal in part]
            yield replace(clause, body=tuple(self._meet(literals, set(), clause)))

    def _lattices(self, atom: Atom) -> Sequence[LatticeOps | None]:
        return self.columns.get(atom.relation) or [None] * len(atom.args)

    def _denials(self, literal: Literal) -> list[tuple[Literal, ...]]:
        """A negated atom: no row has the key, or the row's value and the argument meet in bottom."""
        if not isinstance(literal, Negated) or literal.atom.relation not in self.columns:
            return [(literal,)]
        atom = literal.atom
        lattices = self._lattices(atom)
        plain = tuple(Wildcard(a.kind) if ops else a for a, ops in zip(atom.args, lattices, strict=True))
        choices: list[tuple[Literal, ...]] = [(Negated(replace(atom, args=plain)),)]
        for i, (arg, ops) in enumerate(zip(atom.args, lattices, strict=True)):
            if ops is None or isinstance(arg, Wildcard):
                continue
            assert ops.bottom is not None
            value = self.fresh.column(arg.kind)
            present = replace(atom, args=(*plain[:i], value, *plain[i + 1 :]))
            choices.append((present, Test(Compare("=", ops.meet(value, arg), ops.bottom), atom.span)))
        return choices

    def _meet(self, body: Sequence[Literal], around: set[str], clause: TypedClause) -> Iterator[Literal]:
        bound = self._bound(body, around)
        met: dict[Column, list[tuple[Column, LatticeOps]]] = {}
        for literal in body:
            for arg, ops in self._places(literal):
                if isinstance(arg, Column) and arg.name not in bound:
                    met.setdefault(arg, []).append((self.fresh.column(arg.kind), ops))
        met = {column: uses for column, uses in met.items() if len(uses) > 1}
        waiting = {column: [use for use, _ in uses] for column, uses in met.items()}
        for literal in body:
            match literal:
                case Atom():
                    yield from self._atom(literal, bound, waiting, clause)
                case Summarise():
                    yield replace(literal, body=tuple(self._meet(literal.body, bound, clause)))
                case _:
                    self._refuse(literal, met, clause)
                    yield literal
        for column, uses in met.items():
            value: Scalar = uses[0][0]
            for use, ops in uses[1:]:
                value = ops.meet(use, value)
            bottom = uses[0][1].bottom
            assert bottom is not None
            yield Test(Compare("=", column, value), clause.span)
            yield Test(Compare("!=", column, bottom), clause.span)

    def _places(self, literal: Literal) -> Iterator[tuple[Term, LatticeOps]]:
        if isinstance(literal, Atom):
            for arg, ops in zip(literal.args, self._lattices(literal), strict=True):
                if ops is not None:
                    yield arg, ops

    def _atom(
        self, atom: Atom, bound: set[str], waiting: dict[Column, list[Column]], clause: TypedClause
    ) -> Iterator[Literal]:
        args: list[Term] = []
        tests: list[Literal] = []
        for arg, ops in zip(atom.args, self._lattices(atom), strict=True):
            if ops is None or isinstance(arg, Wildcard):
                args.append(arg)
            elif all(c.name in bound for c in columns_in((arg,))):
                value = self.fresh.column(arg.kind)
                args.append(value)
                tests.append(Test(Compare("=", ops.meet(value, arg), arg), atom.span))
            elif isinstance(arg, Column):
                args.append(waiting[arg].pop(0) if arg in waiting else arg)
            else:
                note = "bind its variables in another atom, or take the value in a variable and match that"
                raise FlintlogError([Diagnostic("E410", "a lattice argument is not bound", atom.span, note)])
        yield replace(atom, args=tuple(args))
        yield from tests

    def _refuse(self, literal: Literal, met: Mapping[Column, object], clause: TypedClause) -> None:
        for column in literal_columns(literal):
            if column in met:
                message = f"`{column.name}` meets several lattice columns and cannot be used in other literals"
                note = "derive the greatest lower bound in a relation of its own, then use that"
                raise FlintlogError([Diagnostic("E411", message, clause.span, note)])

    def _bound(self, body: Sequence[Literal], around: set[str]) -> set[str]:
        """The columns that have a value without the help of a lattice column."""
        bound = set(around)
        while True:
            before = len(bound)
            for literal in body:
                bound |= {c.name for c in self._binds(literal, bound)}
            if len(bound) == before:
                return bound

    def _binds(self, literal: Literal, bound: set[str]) -> Iterable[Column]:
        match literal:
            case Atom():
                lattices = self._lattices(literal)
                return _pattern_columns([a for a, ops in zip(literal.args, lattices, strict=True) if ops is None])
            case Test(Compare("=", left, right)):
                known = [all(c.name in bound for c in columns_in((side,))) for side in (left, right)]
                return _pattern_columns([right] * known[0] + [left] * known[1])
            case Generate() | Summarise():
                return [literal.column]
        return []


def _pattern_columns(terms: Sequence[Term]) -> Iterator[Column]:
    for term in terms:
        if isinstance(term, Column):
            yield term
        elif isinstance(term, MakeRecord | MakeBranch):
            yield from _pattern_columns(term.args)

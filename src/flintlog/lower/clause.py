"""Clauses between the syntax tree and the IR: conjunctive and typed, their arguments already IR scalars.

Aggregates and `range` have been drawn out of the arguments into literals of their own, which bind a fresh column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from flintlog.ir.relation import Fold
from flintlog.ir.scalar import (
    Call,
    Column,
    Compare,
    MakeBranch,
    MakeRecord,
    Never,
    Part,
    Reinterpret,
    Scalar,
    UserCall,
)
from flintlog.source import NOWHERE, Span
from flintlog.types import Kind


@dataclass(frozen=True)
class Wildcard:
    """`_` as an argument of an atom."""

    kind: Kind


Term: TypeAlias = Scalar | Wildcard


@dataclass(frozen=True)
class Atom:
    relation: str
    args: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Negated:
    atom: Atom


@dataclass(frozen=True)
class Test:
    """A condition; an equality may also bind the columns of one side."""

    condition: Compare | Never
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Generate:
    """`column` takes each value of `range(bounds…)`."""

    column: Column
    bounds: tuple[Scalar, ...]


@dataclass(frozen=True)
class Summarise:
    """`column` is the fold over the bindings of `body`. Variables local to the aggregate have names of their own;
    `outer` are those it shares with the clause around it: those it is grouped by, and witnesses, which the clause
    leaves to the aggregate to bind."""

    column: Column
    fold: Fold
    body: tuple[Literal, ...]
    outer: tuple[Column, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Literal: TypeAlias = Atom | Negated | Test | Generate | Summarise


@dataclass(frozen=True)
class TypedClause:
    relation: str
    head: tuple[Scalar, ...]
    body: tuple[Literal, ...]
    plan: tuple[tuple[int, tuple[int, ...]], ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


class Fresh:
    """Makes names that no source program can contain."""

    def __init__(self) -> None:
        self._last = 0

    def name(self) -> str:
        self._last += 1
        return f"${self._last}"

    def column(self, kind: Kind) -> Column:
        return Column(self.name(), kind)


def is_fresh(name: str) -> bool:
    return name.startswith("$")


def columns_in(terms: Iterable[Term]) -> Iterator[Column]:
    """The columns that occur in scalars, each as often as it does."""
    for term in terms:
        match term:
            case Column():
                yield term
            case Call() | UserCall() | MakeRecord() | MakeBranch():
                yield from columns_in(term.args)
            case Part() | Reinterpret():
                yield from columns_in((term.arg,))


def literal_columns(literal: Literal) -> Iterator[Column]:
    """The columns a literal mentions in the clause's own scope, not those local to an aggregate."""
    match literal:
        case Atom():
            yield from columns_in(literal.args)
        case Negated():
            yield from columns_in(literal.atom.args)
        case Test(Compare(_, left, right)):
            yield from columns_in((left, right))
        case Generate():
            yield literal.column
            yield from columns_in(literal.bounds)
        case Summarise():
            yield literal.column
            yield from literal.outer


Substitution: TypeAlias = dict[str, Scalar]


def substitute(term: Term, to: Substitution) -> Term:
    return term if isinstance(term, Wildcard) else substitute_scalar(term, to)


def substitute_scalar(scalar: Scalar, to: Substitution) -> Scalar:
    """The scalar with columns replaced by other scalars."""
    match scalar:
        case Column():
            return to.get(scalar.name, scalar)
        case Call() | UserCall() | MakeRecord() | MakeBranch():
            return replace(scalar, args=tuple(substitute_scalar(a, to) for a in scalar.args))
        case Part() | Reinterpret():
            return replace(scalar, arg=substitute_scalar(scalar.arg, to))
        case _:
            return scalar


def substitute_literal(literal: Literal, to: Substitution) -> Literal:
    match literal:
        case Atom():
            return replace(literal, args=tuple(substitute(a, to) for a in literal.args))
        case Negated():
            return Negated(replace(literal.atom, args=tuple(substitute(a, to) for a in literal.atom.args)))
        case Test(Compare(op, left, right)):
            return replace(literal, condition=Compare(op, substitute_scalar(left, to), substitute_scalar(right, to)))
        case Generate():
            column = to.get(literal.column.name, literal.column)
            assert isinstance(column, Column)
            return Generate(column, tuple(substitute_scalar(b, to) for b in literal.bounds))
        case Summarise():
            return _substitute_summary(literal, to)
        case _:
            return literal


def _substitute_summary(summary: Summarise, to: Substitution) -> Summarise:
    column = to.get(summary.column.name, summary.column)
    assert isinstance(column, Column)
    fold = summary.fold
    if fold.value is not None:
        fold = replace(fold, value=substitute_scalar(fold.value, to))
    if fold.init is not None:
        fold = replace(fold, init=substitute_scalar(fold.init, to))
    outer = dict.fromkeys(columns_in(substitute(column, to) for column in summary.outer))
    body = tuple(substitute_literal(part, to) for part in summary.body)
    return replace(summary, column=column, fold=fold, body=body, outer=tuple(outer))

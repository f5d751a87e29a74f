"""Clauses between the syntax tree and the IR: conjunctive and typed, their arguments already IR scalars.

Aggregates and `range` have been drawn out of the arguments into literals of their own, which bind a fresh column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from flintlog.ir.nodes import Fold
from flintlog.ir.scalar import Column, Compare, Never, Scalar
from flintlog.ir.visit import substitute, walk_scalar
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
    `outer` are those it shares with what is around it, which it is grouped by."""

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

    def column(self, kind: Kind) -> Column:
        """A column without a name in the source."""
        return self._numbered("", kind)

    def copy(self, column: Column) -> Column:
        """Another column for a variable, `x$1` for `x`: what has a name keeps one."""
        return self._numbered(written_name(column.name), column.kind)

    def _numbered(self, prefix: str, kind: Kind) -> Column:
        self._last += 1
        return Column(f"{prefix}${self._last}", kind)


def written_name(name: str) -> str:
    """What a column is called in the source; "" for one that stands for no variable of it."""
    return name.partition("$")[0]


def is_unnamed(column: Column) -> bool:
    """Whether a column stands for `_` or for the value of an expression rather than for a variable."""
    return not written_name(column.name)


def columns_in(terms: Iterable[Term]) -> Iterator[Column]:
    """The columns that occur in scalars, each as often as it does."""
    for term in terms:
        if not isinstance(term, Wildcard):
            yield from (scalar for scalar in walk_scalar(term) if isinstance(scalar, Column))


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


def all_columns(literals: Iterable[Literal]) -> Iterator[Column]:
    """The columns that literals mention, those local to their aggregates included."""
    for literal in literals:
        yield from literal_columns(literal)
        if isinstance(literal, Summarise):
            yield from all_columns(literal.body)


Substitution: TypeAlias = dict[str, Scalar]


def substitute_literal(literal: Literal, to: Substitution) -> Literal:
    """The literal with columns replaced by other scalars; a column that it binds only by another column."""
    match literal:
        case Atom():
            return _substitute_atom(literal, to)
        case Negated(atom):
            return Negated(_substitute_atom(atom, to))
        case Test(Compare(op, left, right)):
            return replace(literal, condition=Compare(op, substitute(left, to), substitute(right, to)))
        case Generate():
            return Generate(_substitute_column(literal.column, to), tuple(substitute(b, to) for b in literal.bounds))
        case Summarise():
            return _substitute_summary(literal, to)
        case _:
            return literal


def _substitute_atom(atom: Atom, to: Substitution) -> Atom:
    return replace(atom, args=tuple(a if isinstance(a, Wildcard) else substitute(a, to) for a in atom.args))


def _substitute_column(column: Column, to: Substitution) -> Column:
    value = to.get(column.name, column)
    assert isinstance(value, Column)
    return value


def _substitute_summary(summary: Summarise, to: Substitution) -> Summarise:
    fold = summary.fold
    value, init = (term and substitute(term, to) for term in (fold.value, fold.init))
    outer = dict.fromkeys(columns_in(substitute(column, to) for column in summary.outer))
    return replace(
        summary,
        column=_substitute_column(summary.column, to),
        fold=replace(fold, value=value, init=init),
        body=tuple(substitute_literal(part, to) for part in summary.body),
        outer=tuple(outer),
    )

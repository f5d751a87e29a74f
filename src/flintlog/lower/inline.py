"""Puts the rules of inline relations in the place of their atoms.

A rule of an inline relation need not bind the variables of its head: the atom it stands for may do so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from flintlog.diagnostics import InternalError
from flintlog.ir.scalar import OPPOSITE, Column, Compare, Const, Never, Scalar
from flintlog.ir.visit import substitute
from flintlog.lower.clause import (
    Atom,
    Fresh,
    Literal,
    Negated,
    Substitution,
    Summarise,
    Test,
    TypedClause,
    Wildcard,
    all_columns,
    columns_in,
    is_unnamed,
    substitute_literal,
)
from flintlog.types import Kind


class Inliner:
    """`rules` are the clauses of the inline relations, by relation."""

    def __init__(self, rules: Mapping[str, Sequence[TypedClause]], fresh: Fresh) -> None:
        self.rules, self.fresh = rules, fresh

    def expand(self, clause: TypedClause) -> Iterator[TypedClause]:
        """The clauses without inline relations that together mean the same as this one."""
        for i, literal in enumerate(clause.body):
            before, after = clause.body[:i], clause.body[i + 1 :]
            if isinstance(literal, Atom) and literal.relation in self.rules:
                choices = [self._instance(rule, literal) for rule in self.rules[literal.relation]]
            elif isinstance(literal, Negated) and literal.atom.relation in self.rules:
                choices = self._denials(literal.atom)
            else:
                continue
            for choice in choices:
                yield from self.expand(replace(clause, body=(*before, *choice, *after)))
            return
        yield clause

    def _instance(self, rule: TypedClause, atom: Atom) -> tuple[Literal, ...]:
        """The body of a rule for the arguments of an atom."""
        to: Substitution = {}
        equal: list[tuple[Scalar, Scalar]] = []
        for arg, head in zip(atom.args, rule.head, strict=True):
            if isinstance(arg, Wildcard):
                continue
            # An aggregate or a range in the head binds its column itself: no argument can take that one's place.
            if isinstance(head, Column) and head.name not in to and not is_unnamed(head):
                to[head.name] = arg
            else:
                equal.append((arg, head))
        for column in (*columns_in(rule.head), *all_columns(rule.body)):
            if column.name not in to:
                to[column.name] = self.fresh.copy(column)
        tests = [Test(Compare("=", arg, substitute(head, to)), atom.span) for arg, head in equal]
        return (*tests, *(substitute_literal(literal, to) for literal in rule.body))

    def _denials(self, atom: Atom) -> list[tuple[Literal, ...]]:
        """The ways for every rule to fail: one literal of each is denied. The checks allow no new variables here; an
        aggregate only names the value that a literal beside it tests."""
        bodies = [self._instance(rule, atom) for rule in self.rules[atom.relation]]
        values = [literal for body in bodies for literal in body if isinstance(literal, Summarise)]
        tests = [[literal for literal in body if not isinstance(literal, Summarise)] for body in bodies]
        return [(*values, *(_deny(literal) for literal in choice)) for choice in product(*tests)]


_ZERO = Const(0, Kind.NUMBER)


def _deny(literal: Literal) -> Literal:
    match literal:
        case Atom():
            return Negated(literal)
        case Negated(atom):
            return atom
        case Test(Compare(op, left, right)):
            return replace(literal, condition=Compare(OPPOSITE[op], left, right))
        case Test(Never()):
            return replace(literal, condition=Compare("=", _ZERO, _ZERO))
    raise InternalError("lower", f"cannot deny {literal!r}")

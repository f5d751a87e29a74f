"""Rules and rows as text of a program, with values in place of variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from flintlog.check.checked import Clause, Literal, NegatedAtom
from flintlog.syntax import ast
from flintlog.syntax.printer import print_argument, print_body
from flintlog.types import Adt, Value

# Records that are nested more deeply, as long lists are, are cut here.
_DEEPEST = 1000


def print_literal(literal: Literal) -> str:
    return f"!{print_body(literal.atom)}" if isinstance(literal, NegatedAtom) else print_body(literal)


def print_clause(clause: Clause) -> str:
    return f"{print_body(clause.head)} :- {', '.join(map(print_literal, clause.body))}."


def with_values(literal: Literal, values: Mapping[str, ast.Argument]) -> Literal:
    """A literal with values in place of variables, except inside aggregates."""

    def changed(argument: ast.Argument) -> ast.Argument:
        match argument:
            case ast.Variable(name):
                return values.get(name, argument)
            case ast.RecordInit(args) | ast.BranchInit(args=args) | ast.Functor(args=args) | ast.UserFunctor(args=args):
                return replace(argument, args=tuple(map(changed, args)))
            case ast.Cast(arg):
                return replace(argument, arg=changed(arg))
        return argument

    match literal:
        case ast.Atom(args=args):
            return replace(literal, args=tuple(map(changed, args)))
        case NegatedAtom(atom):
            return replace(literal, atom=replace(atom, args=tuple(map(changed, atom.args))))
        case ast.Constraint(left=left, right=right):
            return replace(literal, left=changed(left), right=changed(right))
    return literal


def spelled(relation: str, row: Iterable[Value]) -> str:
    """A row as text of a program."""
    return f"{relation}({', '.join(print_argument(argument_of(value)) for value in row)})"


def argument_of(value: Value, depth: int = _DEEPEST) -> ast.Argument:
    """A value as an argument in a program; parts deeper than `depth` are `…`."""
    if isinstance(value, tuple) and not depth:
        return ast.Variable("…")
    match value:
        case None:
            return ast.Nil()
        case str():
            return ast.StringLit(value)
        case Adt(branch, args):
            return ast.BranchInit(branch, tuple([argument_of(part, depth - 1) for part in args]))
        case tuple():
            return ast.RecordInit(tuple([argument_of(part, depth - 1) for part in value]))
    return ast.NumberLit(str(value))

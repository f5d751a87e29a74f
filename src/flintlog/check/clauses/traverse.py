"""Walking and rebuilding rules: every node below a node, and copies with names replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from flintlog.check.checked import Clause, Literal, NegatedAtom, SubsumptiveClause
from flintlog.syntax import ast

_PARTS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    ast.RecordInit: lambda n: n.args,
    ast.BranchInit: lambda n: n.args,
    ast.Cast: lambda n: (n.arg,),
    ast.Functor: lambda n: n.args,
    ast.UserFunctor: lambda n: n.args,
    ast.Aggregate: lambda n: (n.body,) if n.target is None else (n.target, n.body),
    ast.UserAggregate: lambda n: (n.init, n.body) if n.target is None else (n.target, n.init, n.body),
    ast.HeadAggregate: lambda n: (n.arg,),
    ast.Atom: lambda n: n.args,
    ast.Constraint: lambda n: (n.left, n.right),
    ast.Negation: lambda n: (n.body,),
    ast.Conjunction: lambda n: n.items,
    ast.Disjunction: lambda n: n.items,
    NegatedAtom: lambda n: (n.atom,),
    Clause: lambda n: (n.head, *n.body),
    SubsumptiveClause: lambda n: (n.dominated, n.dominating, *n.body),
}

AGGREGATES = (ast.Aggregate, ast.UserAggregate)


def parts(node: ast.Node) -> tuple[ast.Node, ...]:
    """The nodes directly below a node, in the order of the text."""
    of = _PARTS.get(type(node))
    return of(node) if of else ()


def walk(*roots: ast.Node, stop: tuple[type, ...] = ()) -> Iterator[ast.Node]:
    """The roots and all nodes below them, parents first. Nodes of a `stop` type are given, but not entered.

    >>> x, y = ast.Variable("x"), ast.Variable("y")
    >>> [type(node).__name__ for node in walk(ast.RecordInit((x, ast.Cast(y, "number"))))]
    ['RecordInit', 'Variable', 'Cast', 'Variable']
    """
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        yield node
        of = _PARTS.get(type(node))
        if of is not None and type(node) not in stop:
            below = of(node)
            waiting.extend(below if len(below) < 2 else reversed(below))


def conjuncts(body: ast.Body) -> tuple[ast.Body, ...]:
    """The literals of an aggregate's body."""
    return body.items if isinstance(body, ast.Conjunction) else (body,)


_A = TypeVar("_A", ast.Aggregate, ast.UserAggregate)


class Rebuild:
    """Copies nodes, every one of them afresh, and replaces names of relations and of types (branches count as types)
    where the maps have one. Without maps it is a plain copy."""

    def __init__(self, relations: Mapping[str, str] | None = None, types: Mapping[str, str] | None = None) -> None:
        self._relations = relations or {}
        self._types = types or {}

    def clause(self, clause: Clause) -> Clause:
        body = tuple(self.literal(literal) for literal in clause.body)
        return Clause(self.atom(clause.head), body, clause.plan, clause.origin, span=clause.span)

    def subsumption(self, clause: SubsumptiveClause) -> SubsumptiveClause:
        body = tuple(self.literal(literal) for literal in clause.body)
        dominated, dominating = self.atom(clause.dominated), self.atom(clause.dominating)
        return SubsumptiveClause(dominated, dominating, body, clause.plan, clause.origin, span=clause.span)

    def literal(self, literal: Literal) -> Literal:
        if isinstance(literal, NegatedAtom):
            return NegatedAtom(self.atom(literal.atom), span=literal.span)
        if isinstance(literal, ast.Atom):
            return self.atom(literal)
        if isinstance(literal, ast.Constraint):
            return self.constraint(literal)
        return ast.BoolLit(literal.value, span=literal.span)

    def atom(self, atom: ast.Atom) -> ast.Atom:
        name = self._relations.get(atom.name, atom.name)
        return ast.Atom(name, self.arguments(atom.args), atom.name_span, span=atom.span)

    def constraint(self, node: ast.Constraint) -> ast.Constraint:
        return ast.Constraint(node.op, self.argument(node.left), self.argument(node.right), span=node.span)

    def arguments(self, args: tuple[ast.Argument, ...]) -> tuple[ast.Argument, ...]:
        return tuple([self.argument(arg) for arg in args])

    def argument(self, arg: ast.Argument) -> ast.Argument:
        match arg:
            case ast.Variable():
                return ast.Variable(arg.name, span=arg.span)
            case ast.NumberLit():
                return ast.NumberLit(arg.text, arg.fixed, span=arg.span)
            case ast.StringLit():
                return ast.StringLit(arg.value, span=arg.span)
            case ast.Functor():
                return ast.Functor(arg.op, self.arguments(arg.args), span=arg.span)
            case ast.UserFunctor():
                return ast.UserFunctor(arg.name, self.arguments(arg.args), span=arg.span)
            case ast.RecordInit():
                return ast.RecordInit(self.arguments(arg.args), span=arg.span)
            case ast.BranchInit():
                branch = self._types.get(arg.branch, arg.branch)
                return ast.BranchInit(branch, self.arguments(arg.args), span=arg.span)
            case ast.Cast():
                return ast.Cast(self.argument(arg.arg), self._types.get(arg.type, arg.type), span=arg.span)
            case ast.Aggregate():
                return ast.Aggregate(arg.op, self._target(arg), self.body(arg.body), span=arg.span)
            case ast.UserAggregate():
                init = self.argument(arg.init)
                return ast.UserAggregate(arg.name, self._target(arg), init, self.body(arg.body), span=arg.span)
            case ast.HeadAggregate():
                return ast.HeadAggregate(arg.op, self.argument(arg.arg), span=arg.span)
            case _:
                return type(arg)(span=arg.span)

    def _target(self, aggregate: _A) -> ast.Argument | None:
        return None if aggregate.target is None else self.argument(aggregate.target)

    def body(self, body: ast.Body) -> ast.Body:
        match body:
            case ast.Atom():
                return self.atom(body)
            case ast.Constraint():
                return self.constraint(body)
            case ast.BoolLit():
                return ast.BoolLit(body.value, span=body.span)
            case ast.Negation():
                return ast.Negation(self.body(body.body), span=body.span)
            case ast.Conjunction() | ast.Disjunction():
                return type(body)(tuple([self.body(item) for item in body.items]), span=body.span)

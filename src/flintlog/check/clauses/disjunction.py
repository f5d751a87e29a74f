"""The disjunctive form of a rule's body: alternatives, each a conjunction of atoms and constraints, negated or not.

Literals that repeat within an alternative are dropped, and so are alternatives that contain another one whole: as
Soufflé does, whose plans (`.plan`) count the atoms that remain.
"""

from __future__ import annotations

from typing import TypeAlias

from flintlog.check.checked import Literal, NegatedAtom
from flintlog.ir.scalar import OPPOSITE
from flintlog.syntax import ast

# An atom or constraint as written, and whether it is negated. Ordered; the value of an entry means nothing.
_Alternative: TypeAlias = dict[tuple[bool, ast.Atom | ast.Constraint | ast.BoolLit], None]


def alternatives(body: ast.Body) -> list[tuple[Literal, ...]]:
    """The conjunctions a body stands for, in order; negation is pushed down to atoms and constraints.

    >>> a, b = ast.Atom("a", ()), ast.Constraint("<", ast.Variable("x"), ast.NumberLit("1"))
    >>> [[type(l).__name__ for l in c] for c in alternatives(ast.Negation(ast.Conjunction((a, b))))]
    [['NegatedAtom'], ['Constraint']]
    """
    return [tuple([_literal(*entry) for entry in alternative]) for alternative in _form(body)]


def _form(body: ast.Body) -> list[_Alternative]:
    match body:
        case ast.Conjunction():
            result = _form(body.items[0])
            for item in body.items[1:]:
                result = _both(result, _form(item))
            return result
        case ast.Disjunction():
            result = []
            for item in body.items:
                for alternative in _form(item):
                    _add(result, alternative)
            return result
        case ast.Negation():
            return _negation(_form(body.body))
        case _:
            return [{(False, body): None}]


def _both(left: list[_Alternative], right: list[_Alternative]) -> list[_Alternative]:
    if len(left) == 1 and len(right) == 1:
        return [left[0] | right[0]]
    result: list[_Alternative] = []
    for first in left:
        for second in right:
            _add(result, first | second)
    return result


def _negation(form: list[_Alternative]) -> list[_Alternative]:
    result: list[_Alternative] = [{}]
    for alternative in form:
        result = _both(result, [{(not negated, literal): None} for negated, literal in alternative])
    return result


def _add(form: list[_Alternative], new: _Alternative) -> None:
    if any(known.keys() <= new.keys() for known in form):
        return
    form[:] = [known for known in form if not new.keys() <= known.keys()]
    form.append(new)


def _literal(negated: bool, node: ast.Atom | ast.Constraint | ast.BoolLit) -> Literal:
    if not negated:
        return node
    match node:
        case ast.Atom():
            return NegatedAtom(node, span=node.span)
        case ast.Constraint():
            return ast.Constraint(OPPOSITE[node.op], node.left, node.right, span=node.span)
        case ast.BoolLit():
            return ast.BoolLit(not node.value, span=node.span)

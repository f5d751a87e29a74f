"""Computes what is known before the program runs, and carries constants to where they are used.

Requires nothing. Establishes: no operation over constants only, unless it has no value or one to warn of; no computed
column that is only a constant or another column; no rule that can have no rows. A join with a constant on one side
filters the other side by it. What may fail at run time stays, and stays behind what guards it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from flintlog.ir.nodes import (
    AntiJoin,
    FlatMap,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    SemiJoin,
    Step,
    Where,
    children,
)
from flintlog.ir.program import Program, Rule
from flintlog.ir.scalar import Column, Compare, Const, Never, Scalar
from flintlog.ir.visit import rewrite_scalar, rewrite_step, with_children
from flintlog.ir.words import Words
from flintlog.passes.context import PassContext
from flintlog.passes.empty_nodes import is_empty, without_empty_parts
from flintlog.passes.fold_terms import fold_one, truth
from flintlog.passes.free_rules import rewrite_free_rules
from flintlog.types import Kind

Known: TypeAlias = dict[str, Const]


def constants(program: Program, context: PassContext) -> Program:
    """The program with constants computed and propagated.

    >>> from flintlog.ir.text import parse_program, print_node
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation near(y: number, far: number)
    ...     input edge
    ...     stratum edge
    ...     stratum near
    ...       rule 1 near
    ...         map (y, far = (d * 2))
    ...           let d: number = (3 + 4)
    ...           where (x < d)
    ...           scan edge(x: number, y: number)
    ... ''')
    >>> print(print_node(constants(program, PassContext(frozenset())).strata[1].rules[0].body))
    map (y, far = 14)
      where (x < 7)
      scan edge(x: number, y: number)
    """
    words = Words(context.word_size)

    def propagated(rule: Rule) -> Rule | None:
        body = _visit(rule.body, words).node
        if is_empty(body):
            return None
        return rule if body is rule.body else replace(rule, body=body)

    return rewrite_free_rules(program, context, propagated)


@dataclass(frozen=True)
class _Visited:
    """A rewritten node, and those of its columns that have one value in all rows."""

    node: Node
    known: Known


def _visit(node: Node, words: Words) -> _Visited:
    parts = [_visit(child, words) for child in children(node)]
    node = with_children(node, tuple(part.node for part in parts))
    known = _known_below(node, parts)
    match node:
        case JoinFlatMap():
            node = _filter_sides(node, parts[0].known, parts[1].known)
            node, known = _propagate(node, known, words)
        case FlatMap():
            node, known = _propagate(node, known, words)
        case _:
            pass
    return _Visited(without_empty_parts(node), known)


def _known_below(node: Node, parts: Sequence[_Visited]) -> Known:
    match node:
        case FlatMap() | AntiJoin():
            return parts[0].known
        case JoinFlatMap():
            return {**parts[1].known, **parts[0].known}
        case SemiJoin():
            right = {name: value for name, value in parts[1].known.items() if name in node.on}
            return {**right, **parts[0].known}
        case _:
            return {}


# --- Steps ----------------------------------------------------------------------------------------


def _propagate(node: FlatMap | JoinFlatMap, known: Known, words: Words) -> tuple[Node, Known]:
    """The node with `known` constants in its steps and output, and the constant columns of its output."""
    known = dict(known)
    replaced: dict[str, Scalar] = {}  # columns that are computed no more
    steps: list[Step] = []

    def folded(part: Scalar) -> Scalar:
        if not isinstance(part, Column):
            return fold_one(part, words)
        part = replaced.get(part.name, part)
        return known.get(part.name, part) if isinstance(part, Column) else part

    for step in node.steps:
        step = rewrite_step(step, folded)
        if isinstance(step, Let) and isinstance(step.value, Const | Column):
            replaced[step.column.name] = step.value
        elif isinstance(step, Where) and (holds := truth(step.condition)) is not None:
            if not holds:
                steps.append(Where(Never()))
        else:
            steps.append(step)
            if isinstance(step, Where):
                known.update(_equated(step))
    # A column that is only passed on stays one: that costs nothing, a constant would have to be put there.
    output = tuple(
        (name, replaced.get(value.name, value) if isinstance(value, Column) else rewrite_scalar(value, folded))
        for name, value in node.output
    )
    result: Known = {}
    for name, value in output:
        value = known.get(value.name, value) if isinstance(value, Column) else value
        if isinstance(value, Const):
            result[name] = value
    unchanged = _same(steps, node.steps) and all(a is b for (_, a), (_, b) in zip(output, node.output, strict=True))
    return (node if unchanged else replace(node, steps=tuple(steps), output=output)), result


def _equated(step: Where) -> Known:
    """The column that a filter leaves one value. Zeros of both signs are equal as floats, so these stay."""
    match step.condition:
        case Compare("=", Column(name, kind), Const() as value) | Compare("=", Const() as value, Column(name, kind)):
            return {} if kind is Kind.FLOAT else {name: value}
        case _:
            return {}


def _same(new: Sequence[Step], old: Sequence[Step]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


# --- Joins ----------------------------------------------------------------------------------------


def _filter_sides(node: JoinFlatMap, left: Known, right: Known) -> JoinFlatMap:
    """The join with each side filtered by the constants that only the other one has."""
    new_left, new_right = node.left, node.right
    for name in node.on:
        if name in left and name not in right and left[name].kind is not Kind.FLOAT:
            new_right = _filtered(new_right, name, left[name])
        elif name in right and name not in left and right[name].kind is not Kind.FLOAT:
            new_left = _filtered(new_left, name, right[name])
    unchanged = new_left is node.left and new_right is node.right
    return node if unchanged else replace(node, left=new_left, right=new_right)


def _filtered(node: Node, name: str, value: Const) -> Node:
    """The node with only those rows whose column has the value, filtered as far down as its steps allow."""
    column = Column(name, value.kind)
    match node:
        case Scan():
            return FlatMap(node, (Where(Compare("=", column, value)),), tuple((c.name, c) for c in node.schema))
        case SemiJoin() | AntiJoin():
            return replace(node, left=_filtered(node.left, name, value))
        case FlatMap():
            source = dict(node.output)[name]
            if not isinstance(source, Column) or source not in node.input.schema:
                return node
            if isinstance(node.input, Scan):
                return replace(node, steps=(Where(Compare("=", source, value)), *node.steps))
            return replace(node, input=_filtered(node.input, source.name, value))
        case JoinFlatMap():
            source = dict(node.output)[name]
            if not isinstance(source, Column):
                return node
            left = _filtered(node.left, source.name, value) if source in node.left.schema else node.left
            right = _filtered(node.right, source.name, value) if source in node.right.schema else node.right
            return with_children(node, (left, right))
        case _:
            return node

"""Fuses what can run in one go (FlowLog, section 4): a map over a map, a map over a join, unions of unions.

Requires nothing. Establishes: no FlatMap stands over a FlatMap or a JoinFlatMap, no ConcatAll in a ConcatAll, no join
with what is computed from nothing, and no map that only renames or reorders columns where their order does not matter.
Steps keep their order, so what guards a computation still stands before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from flintlog.ir.nodes import (
    AntiJoin,
    ConcatAll,
    FlatMap,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Shared,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.program import Program, Rule
from flintlog.ir.scalar import Column, Compare, Const, Scalar
from flintlog.ir.visit import columns_of, node_terms, rewrite, rewrite_step, substitute, terms_of
from flintlog.passes.context import PassContext
from flintlog.passes.free_rules import rewrite_free_rules
from flintlog.passes.fresh_names import fresh_name
from flintlog.types import Kind


def fusion(program: Program, context: PassContext) -> Program:
    """The program with fused trees.

    >>> from flintlog.ir.text import parse_program, print_node
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation neighbour(y: number)
    ...     input edge
    ...     stratum edge
    ...     stratum neighbour
    ...       rule 1 neighbour
    ...         map (y)
    ...           map (x, y)
    ...             where (x = 1)
    ...             scan edge(x: number, y: number)
    ... ''')
    >>> print(print_node(fusion(program, PassContext(frozenset())).strata[1].rules[0].body))
    map (y)
      where (x = 1)
      scan edge(x: number, y: number)
    """

    def fused_rule(rule: Rule) -> Rule:
        body = fuse(rule.body)
        return rule if body is rule.body else replace(rule, body=body)

    return rewrite_free_rules(program, context, fused_rule)


def fuse(node: Node) -> Node:
    """The tree with everything fused that can be."""
    return rewrite(node, _fuse_one)


def _fuse_one(node: Node) -> Node:
    match node:
        case FlatMap(FlatMap() | JoinFlatMap() as below, steps, output):
            return _fuse_one(_onto(below, steps, output))
        case FlatMap(input, (), output) if _keeps_all(input.schema, output):
            return _renamed(input, output)
        case JoinFlatMap(left, right):
            alone = _beside_one_row(node, left, right) or _beside_one_row(node, right, left)
            return _fuse_one(alone) if alone else _with_sides(node, _unordered(left), _unordered(right))
        case SemiJoin(left, right) | AntiJoin(left, right):
            return _with_sides(node, left, _unordered(right))
        case ConcatAll(inputs):
            return _union(node, inputs)
        case _:
            return node


# --- Maps -----------------------------------------------------------------------------------------


def _onto(below: FlatMap | JoinFlatMap, steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]) -> Node:
    """A node that does what `below` does and then these steps and this projection. What the projection of `below`
    computes becomes a step, unless nobody looks at it and it cannot fail."""
    scope = below.input.schema if isinstance(below, FlatMap) else below.joined
    taken = {column.name for column in scope} | {s.column.name for s in below.steps if not isinstance(s, Where)}
    used = _columns_read(steps, output)
    values: dict[str, Scalar] = {}
    fused: list[Step] = list(below.steps)
    for name, value in below.output:
        if isinstance(value, Column | Const):
            values[name] = value
        elif name in used or may_fail(value):
            column = Column(fresh_name(name, taken), value.kind)
            fused.append(Let(column, value))
            values[name] = column
    fused += _renamed_steps(steps, values, taken)
    outputs = tuple((name, substitute(value, values)) for name, value in output)
    return replace(below, steps=tuple(fused), output=outputs)


def _columns_read(steps: Iterable[Step], output: Iterable[tuple[str, Scalar]]) -> set[str]:
    terms = [term for step in steps for term in terms_of(step)]
    return {name for term in (*terms, *(value for _, value in output)) for name in columns_of(term)}


def _beside_one_row(node: JoinFlatMap, one: Node, other: Node) -> Node | None:
    """A map over `other` that does what the join does, if the rows of `one` come from nothing but its own steps; None
    if they do not, or if they may fail: a join computes them once, even where `other` has no rows."""
    if isinstance(one, Unit):
        return FlatMap(other, node.steps, node.output)
    if not isinstance(one, FlatMap) or not isinstance(one.input, Unit) or any(map(may_fail, node_terms(one))):
        return None
    # Floats are joined by their words, but compared by their values.
    if any(column.name in node.on and column.kind is Kind.FLOAT for column in one.schema):
        return None
    taken = {column.name for column in other.schema}
    values: dict[str, Scalar] = {}
    steps = list(_renamed_steps(one.steps, values, taken))
    output: list[tuple[str, Scalar]] = [(column.name, column) for column in other.schema]
    for name, value in one.output:
        value = substitute(value, values)
        if name in node.on:
            steps.append(Where(Compare("=", Column(name, value.kind), value)))
        else:
            output.append((name, value))
    return _onto(FlatMap(other, tuple(steps), tuple(output)), node.steps, node.output)


def _renamed_steps(steps: Iterable[Step], values: dict[str, Scalar], taken: set[str]) -> Iterator[Step]:
    """The steps over what `values` has for columns. The columns they add get names that are not `taken`, which `values`
    and `taken` have afterwards."""
    for step in steps:
        step = rewrite_step(step, lambda part: values.get(part.name, part) if isinstance(part, Column) else part)
        if not isinstance(step, Where):
            column = Column(fresh_name(step.column.name, taken), step.column.kind)
            values[step.column.name] = column
            step = replace(step, column=column)
        yield step


# --- Names ----------------------------------------------------------------------------------------


def _keeps_all(schema: Schema, output: Sequence[tuple[str, Scalar]]) -> bool:
    """Whether a projection only gives the columns other names, in the order they have."""
    return [value for _, value in output] == list(schema)


def _renamed(node: Node, output: Sequence[tuple[str, Scalar]]) -> Node:
    schema = tuple(Column(name, value.kind) for name, value in output)
    if schema == node.schema:
        return node
    if isinstance(node, Scan | Shared | Values):
        return replace(node, schema=schema)
    return FlatMap(node, (), tuple(output))


def _unordered(node: Node) -> Node:
    """The node, where the order of its columns does not matter, without a map that only changes it."""
    if not isinstance(node, FlatMap) or node.steps or not isinstance(node.input, Scan | Shared):
        return node
    names = {value: name for name, value in node.output}
    if len(names) != len(node.output) or set(names) != set(node.input.schema):
        return node
    return _renamed(node.input, [(names[column], column) for column in node.input.schema])


def _with_sides(node: JoinFlatMap | SemiJoin | AntiJoin, left: Node, right: Node) -> Node:
    return node if left is node.left and right is node.right else replace(node, left=left, right=right)


# --- Unions ---------------------------------------------------------------------------------------


def _union(node: ConcatAll, inputs: Sequence[Node]) -> Node:
    flat: list[Node] = []
    for part in inputs:
        flat += part.inputs if isinstance(part, ConcatAll) else (part,)
    if len(flat) == 1:
        return flat[0]
    if len(flat) == len(inputs):
        return node
    return ConcatAll(tuple(flat))

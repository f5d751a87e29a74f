"""Walking and rewriting trees. What a rewrite leaves alone stays the same object, so that a pass can tell that nothing
changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    SemiJoin,
    Shared,
    Step,
    Where,
    children,
)
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.ir.scalar import (
    Call,
    Column,
    Compare,
    Condition,
    IsBranch,
    IsRecord,
    MakeBranch,
    MakeRecord,
    Part,
    Reinterpret,
    Scalar,
    UserCall,
)

# --- Expressions ----------------------------------------------------------------------------------


def operands(term: Scalar | Condition) -> tuple[Scalar, ...]:
    """The expressions directly inside an expression or a condition, in order."""
    match term:
        case Call() | UserCall() | MakeRecord() | MakeBranch():
            return term.args
        case Part() | Reinterpret() | IsRecord() | IsBranch():
            return (term.arg,)
        case Compare():
            return (term.left, term.right)
        case _:
            return ()


def walk_scalar(term: Scalar | Condition) -> Iterator[Scalar]:
    """Every expression in a term, the term itself included if it is one, from the outside in, left to right."""
    pending = [term] if isinstance(term, Scalar) else list(reversed(operands(term)))
    while pending:
        scalar = pending.pop()
        yield scalar
        pending.extend(reversed(operands(scalar)))


def columns_of(term: Scalar | Condition) -> frozenset[str]:
    """The names of the columns a term reads."""
    return frozenset(scalar.name for scalar in walk_scalar(term) if isinstance(scalar, Column))


def rewrite_scalar(scalar: Scalar, change: Callable[[Scalar], Scalar]) -> Scalar:
    """The expression with `change` applied to every expression in it, from the inside out."""
    rewritten: Scalar = scalar
    match scalar:
        case Call() | UserCall() | MakeRecord() | MakeBranch():
            args = tuple(rewrite_scalar(arg, change) for arg in scalar.args)
            if not _same(args, scalar.args):
                rewritten = replace(scalar, args=args)
        case Part() | Reinterpret():
            arg = rewrite_scalar(scalar.arg, change)
            if arg is not scalar.arg:
                rewritten = replace(scalar, arg=arg)
        case _:
            pass
    return change(rewritten)


def rewrite_condition(condition: Condition, change: Callable[[Scalar], Scalar]) -> Condition:
    """The condition with `change` applied to every expression in it, from the inside out."""
    match condition:
        case Compare(op, left, right):
            sides = rewrite_scalar(left, change), rewrite_scalar(right, change)
            return condition if _same(sides, (left, right)) else Compare(op, *sides)
        case IsRecord() | IsBranch():
            arg = rewrite_scalar(condition.arg, change)
            return condition if arg is condition.arg else replace(condition, arg=arg)
        case _:
            return condition


def substitute(scalar: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    """The expression with columns replaced by what `values` has for their names.

    >>> from flintlog.types import Kind
    >>> x, y = Column("x", Kind.NUMBER), Column("y", Kind.NUMBER)
    >>> substitute(MakeRecord((x, y)), {"x": y}) == MakeRecord((y, y))
    True
    """
    return rewrite_scalar(scalar, lambda part: values.get(part.name, part) if isinstance(part, Column) else part)


# --- Steps ----------------------------------------------------------------------------------------


def terms_of(step: Step) -> tuple[Scalar | Condition, ...]:
    """What a step evaluates."""
    match step:
        case Where(condition):
            return (condition,)
        case Let(_, value):
            return (value,)
        case Each(_, bounds):
            return bounds


def rewrite_step(step: Step, change: Callable[[Scalar], Scalar]) -> Step:
    """The step with `change` applied to every expression it evaluates. The column it adds keeps its name."""
    match step:
        case Where(condition):
            new_condition = rewrite_condition(condition, change)
            return step if new_condition is condition else Where(new_condition)
        case Let(column, value):
            new_value = rewrite_scalar(value, change)
            return step if new_value is value else Let(column, new_value)
        case Each(column, bounds):
            new_bounds = tuple(rewrite_scalar(bound, change) for bound in bounds)
            return step if _same(new_bounds, bounds) else Each(column, new_bounds)


# --- Nodes ----------------------------------------------------------------------------------------


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, from the root down, left to right. A Shared node is a leaf."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def node_terms(node: Node) -> Iterator[Scalar | Condition]:
    """The expressions and conditions that a node itself evaluates, not those of its inputs."""
    match node:
        case FlatMap() | JoinFlatMap():
            for step in node.steps:
                yield from terms_of(step)
            yield from (value for _, value in node.output)
        case Aggregate():
            yield from (term for term in (node.fold.value, node.fold.init) if term is not None)


def with_children(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The node over other inputs, in the order of `children`."""
    if _same(inputs, children(node)):
        return node
    match node:
        case FlatMap():
            return replace(node, input=inputs[0])
        case JoinFlatMap() | SemiJoin() | AntiJoin():
            return replace(node, left=inputs[0], right=inputs[1])
        case Aggregate():
            return replace(node, input=inputs[0], keys=inputs[1] if node.keys is not None else None)
        case ConcatAll():
            return ConcatAll(inputs)
        case _:
            return node


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with `change` applied to every node, from the leaves up."""
    return change(with_children(node, tuple(rewrite(child, change) for child in children(node))))


def relations_of(node: Node, shared: Mapping[int, Node]) -> frozenset[str]:
    """The relations a tree reads, through the subplans it shares too."""
    found: set[str] = set()
    seen: set[int] = set()
    pending = [node]
    while pending:
        for part in walk(pending.pop()):
            if isinstance(part, Scan):
                found.add(part.relation)
            elif isinstance(part, Shared) and part.id not in seen:
                seen.add(part.id)
                pending.append(shared[part.id])
    return frozenset(found)


# --- Programs -------------------------------------------------------------------------------------


def rewrite_bodies(program: Program, change: Callable[[Node], Node]) -> Program:
    """The program with `change` applied to the root of every rule, subsumption and shared subplan; ids, plans and spans
    stay."""
    strata = tuple(_rewrite_stratum(stratum, change) for stratum in program.strata)
    shared = {id: change(node) for id, node in program.shared.items()}
    if _same(strata, program.strata) and _same(tuple(shared.values()), tuple(program.shared.values())):
        return program
    return replace(program, strata=strata, shared=shared)


def _rewrite_stratum(stratum: Stratum, change: Callable[[Node], Node]) -> Stratum:
    rules = tuple(_rewrite_rule(rule, change) for rule in stratum.rules)
    subsumptions = tuple(_rewrite_subsumption(rule, change) for rule in stratum.subsumptions)
    if _same(rules, stratum.rules) and _same(subsumptions, stratum.subsumptions):
        return stratum
    return replace(stratum, rules=rules, subsumptions=subsumptions)


def _rewrite_rule(rule: Rule, change: Callable[[Node], Node]) -> Rule:
    body = change(rule.body)
    return rule if body is rule.body else replace(rule, body=body)


def _rewrite_subsumption(rule: Subsumption, change: Callable[[Node], Node]) -> Subsumption:
    body = change(rule.body)
    return rule if body is rule.body else replace(rule, body=body)


def _same(new: tuple[object, ...], old: tuple[object, ...]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))

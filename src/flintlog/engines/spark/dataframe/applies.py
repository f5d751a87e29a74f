"""Decides which strata the strategy `dataframe` can evaluate, and gives the reason against each other stratum."""

from __future__ import annotations

from collections.abc import Iterator

from flintlog.engines.queries.best import best_of
from flintlog.ir.nodes import Aggregate, Node
from flintlog.ir.program import NEW, OLD, Program, Relation, Stratum
from flintlog.ir.scalar import Call, Column, Counter, Scalar, UserCall
from flintlog.ir.shared import in_place
from flintlog.ir.visit import node_terms, walk, walk_scalar
from flintlog.types import Kind


def applies(program: Program, stratum: Stratum) -> str | None:
    """None if the strategy `dataframe` evaluates the stratum; otherwise the reason why it does not."""
    for name in stratum.relations:
        reason = _refused_relation(program, stratum, program.relations[name])
        if reason is not None:
            return reason
    for node in _nodes(program, stratum):
        scalars = [scalar for term in node_terms(node) for scalar in walk_scalar(term)]
        if any(isinstance(scalar, Counter) for scalar in scalars):
            return "`autoinc` counts over the whole run"
        for name in _functions(node, scalars):
            if name in program.functions and program.functions[name].stateful:
                return f"`@{name}` has a state"
    return None


def _refused_relation(program: Program, stratum: Stratum, relation: Relation) -> str | None:
    name = relation.name
    if relation.representation == "eqrel":
        return f"`{name}` is an equivalence"
    if relation.choice:
        return f"`{name}` chooses among rows"
    if any(other.delta_of == name for other in program.relations.values()):
        return f"the rounds of `{name}` are recorded"
    if relation.merge and not keeps_best(relation):
        return f"rows of `{name}` merge into values that are neither the least nor the greatest number"
    if relation.merge and relation.limit is not None:
        return f"`{name}` ends at a size, and its rows replace others"
    if any(rule.relation == name for rule in stratum.subsumptions) and best_of(program, stratum) is None:
        return f"rows of `{name}` subsume one another in a way of their own"
    return None


def keeps_best(relation: Relation) -> bool:
    """Whether rows with equal keys merge into the one with the least or greatest number in one column."""
    merged = [(m, kind) for m, kind in zip(relation.merge, relation.kinds, strict=True) if m is not None]
    match merged:
        case [(Call("min" | "max", (Column(first, _), Column(second, _)), _), Kind.NUMBER | Kind.UNSIGNED)]:
            return {first, second} == {OLD, NEW}
    return False


def _functions(node: Node, scalars: list[Scalar]) -> Iterator[str]:
    """The user's functions that a node calls."""
    if isinstance(node, Aggregate) and node.fold.op.startswith("@"):
        yield node.fold.op[1:]
    yield from (scalar.name for scalar in scalars if isinstance(scalar, UserCall))


def _nodes(program: Program, stratum: Stratum) -> Iterator[Node]:
    bodies = [*(rule.body for rule in stratum.rules), *(rule.body for rule in stratum.subsumptions)]
    for body in bodies:
        yield from walk(in_place(body, program.shared))

"""The properties of a stratum that decide which strategies apply. Shared subplans stand where they are used."""

from __future__ import annotations

from collections.abc import Iterator

from flintlog.engines.queries.best import best_of
from flintlog.engines.queries.query import query_of, reads_inside
from flintlog.engines.queries.row_only import needs_rows
from flintlog.ir.nodes import Aggregate, Node, Values
from flintlog.ir.program import Program, Stratum
from flintlog.ir.scalar import (
    Call,
    Compare,
    Condition,
    Counter,
    IsBranch,
    IsRecord,
    MakeBranch,
    MakeRecord,
    Part,
    Reinterpret,
    Round,
    Scalar,
    UserCall,
)
from flintlog.ir.visit import node_terms, operands, relations_of, walk, walk_scalar


def why_together(program: Program, stratum: Stratum) -> str | None:
    """Why tasks cannot share a stratum, if they cannot: it has to see all rows in one place, or in one order."""
    for name in stratum.relations:
        relation = program.relations[name]
        if relation.choice:
            return f"`{name}` chooses among rows"
        if relation.representation == "eqrel":
            return f"`{name}` is an equivalence"
        if relation.limit is not None:
            return f"`{name}` has a limit"
        if any(other.delta_of == name for other in program.relations.values()):
            return f"the rounds of `{name}` are recorded"
        if (relation.merge or _subsumed(stratum, name)) and best_of(program, stratum) is None:
            return f"rows of `{name}` merge or subsume in a way of their own"
    if any(reads_inside(query_of(rule.body), stratum.relations) for rule in stratum.rules):
        return "an aggregate or a test reads what is being computed"
    for scalar in _scalars(stratum):
        match scalar:
            case Counter():
                return "`autoinc` counts over the whole run"
            case Round():
                return "a rule asks for its round"
            case UserCall(name, _, _) if program.functions[name].stateful:
                return f"`@{name}` has a state"
    return "a rule makes symbols or records" if makes_values(stratum) else None


def looks_into_values(program: Program, stratum: Stratum) -> bool:
    """Whether a stratum needs to know what symbols and records stand for, not just which are equal."""
    if needs_rows(program, stratum) or any(_looks(term) for node in _nodes(stratum) for term in node_terms(node)):
        return True
    folds = [node.fold for node in _nodes(stratum) if isinstance(node, Aggregate)]
    return any(
        fold.op.startswith("@") or not (fold.value is None or fold.op == "count" or fold.value.kind.is_numeric)
        for fold in folds
    ) or makes_values(stratum)


def makes_values(stratum: Stratum) -> bool:
    """Whether a stratum may come upon symbols or records that nobody has numbered."""
    for node in _nodes(stratum):
        if isinstance(node, Values) and any(isinstance(value, tuple) for row in node.rows for value in row):
            return True
        if isinstance(node, Aggregate) and node.fold.op.startswith("@") and not node.fold.kind.is_numeric:
            return True
    return any(_makes(scalar) for scalar in _scalars(stratum))


def read_by(program: Program, stratum: Stratum) -> frozenset[str]:
    """The relations that a stratum's rules read."""
    return frozenset(name for body in _bodies(stratum) for name in relations_of(body, program.shared))


def _subsumed(stratum: Stratum, name: str) -> bool:
    return any(subsumption.relation == name for subsumption in stratum.subsumptions)


def _bodies(stratum: Stratum) -> list[Node]:
    return [*(rule.body for rule in stratum.rules), *(rule.body for rule in stratum.subsumptions)]


def _nodes(stratum: Stratum) -> Iterator[Node]:
    for body in _bodies(stratum):
        yield from walk(body)


def _scalars(stratum: Stratum) -> Iterator[Scalar]:
    for node in _nodes(stratum):
        for term in node_terms(node):
            yield from walk_scalar(term)


def _looks(term: Scalar | Condition) -> bool:
    match term:
        case Compare(op, left, _) if op not in ("=", "!=") and not left.kind.is_numeric:
            return True
        case IsRecord() | IsBranch():
            return True
    return any(_looks_into(scalar) for scalar in walk_scalar(term))


def _looks_into(scalar: Scalar) -> bool:
    match scalar:
        case MakeRecord() | MakeBranch() | Part():
            return True
        case Call() | UserCall() | Reinterpret():
            return not (scalar.kind.is_numeric and all(arg.kind.is_numeric for arg in operands(scalar)))
    return False


def _makes(scalar: Scalar) -> bool:
    match scalar:
        case MakeRecord() | MakeBranch():
            return True
        case Call() | UserCall() | Part() | Reinterpret():
            return not scalar.kind.is_numeric
    return False

"""COUNT, SUM and AVG in heads, as FlowLog writes them: the head's other columns are the groups, and every distinct
binding of a body counts once, over all rules of the relation. (MIN and MAX alone merge the relation's rows.)"""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.ir.nodes import Aggregate, ConcatAll, FlatMap, Fold, JoinFlatMap, Node
from flintlog.ir.operations import result_kind
from flintlog.ir.program import Relation
from flintlog.ir.scalar import Call, Column, Const, MakeRecord, Scalar
from flintlog.lower.body import BodyBuilder
from flintlog.lower.clause import Fresh, TypedClause
from flintlog.types import Kind


def lower_head_aggregates(
    relation: Relation, aggregates: Sequence[str | None], clauses: Sequence[TypedClause], fresh: Fresh
) -> Node:
    """One tree for all rules of a relation whose heads aggregate."""
    names = [column.name for column in relation.columns]
    groups = tuple(name for name, op in zip(names, aggregates, strict=True) if op is None)
    bindings = ConcatAll(tuple(_bindings(clause, i, names, aggregates, fresh) for i, clause in enumerate(clauses)))
    at = {column.name: column for column in bindings.schema}
    node: Node | None = None
    output: list[tuple[str, Scalar]] = [(name, at[name]) for name in groups]
    for name, op, kind in zip(names, aggregates, relation.kinds, strict=True):
        if op is None:
            continue
        fold = Fold(op, None if op == "count" else at[name], Kind.FLOAT if op == "mean" else kind)
        into = fresh.column(fold.kind)
        folded = Aggregate(bindings, groups, into.name, fold)
        if node is None:
            node = folded
        else:
            columns = {c.name: c for c in (*node.schema, *folded.schema)}
            node = JoinFlatMap(node, folded, groups, (), tuple(columns.items()))
        output.append((name, _converted(into, kind)))
    assert node is not None
    return FlatMap(node, (), tuple((name, dict(output)[name]) for name in names))


def _bindings(
    clause: TypedClause, number: int, names: Sequence[str], aggregates: Sequence[str | None], fresh: Fresh
) -> Node:
    """The head's columns for every binding of the body. The rule's number and the whole binding, as a record, keep
    equal heads of different bindings apart."""
    body = BodyBuilder(fresh)
    body.build(clause.body, clause)
    head: list[tuple[str, Scalar]] = [
        (name, _converted(value, Kind.FLOAT) if op == "mean" else value)
        for name, value, op in zip(names, clause.head, aggregates, strict=True)
    ]
    witness = MakeRecord(tuple(body.bound.values()))
    return body.project([*head, ("$rule", Const(number, Kind.NUMBER)), ("$binding", witness)])


def _converted(value: Scalar, kind: Kind) -> Scalar:
    if value.kind is kind or (isinstance(value, Column) and value.kind is Kind.SYMBOL):
        return value
    conversion = {Kind.FLOAT: "to_float", Kind.NUMBER: "to_number", Kind.UNSIGNED: "to_unsigned"}[kind]
    return Call(conversion, (value,), result_kind(conversion, (value.kind,)))

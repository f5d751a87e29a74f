"""Strata that keep the smallest or largest value of each key: written with MIN and MAX in heads, or as subsumption."""

from __future__ import annotations

from dataclasses import dataclass

from flintlog.engines.queries.query import Query, Rows, query_of, reads_inside, recursive_rows
from flintlog.ir.nodes import Where
from flintlog.ir.program import Program, Stratum, Subsumption
from flintlog.ir.scalar import Call, Column, Compare
from flintlog.types import Kind


@dataclass(frozen=True)
class Best:
    """Of rows that agree in all other columns, only the one with the smallest (sign 1) or largest (-1) value at
    `position` stays."""

    relation: str
    position: int
    sign: int


def best_of(program: Program, stratum: Stratum) -> Best | None:
    """The column of which a stratum keeps best values, if kernels can keep them: the stratum has a single relation with
    one such column of signed numbers, and rules that read the relation at most once, so that only new rows matter."""
    if len(stratum.relations) != 1:
        return None
    relation = program.relations[stratum.relations[0]]
    if relation.choice or relation.representation == "eqrel" or relation.limit is not None:
        return None
    best = _merged(program, stratum) if relation.merge else _subsumed(program, stratum)
    if best is None or relation.kinds[best.position] is not Kind.NUMBER:
        return None
    own, queries = stratum.relations, [query_of(rule.body) for rule in stratum.rules]
    linear = all(len(recursive_rows(query, own)) <= 1 and not reads_inside(query, own) for query in queries)
    return best if linear else None


def _merged(program: Program, stratum: Stratum) -> Best | None:
    relation = program.relations[stratum.relations[0]]
    merged = [(i, merge) for i, merge in enumerate(relation.merge) if merge is not None]
    if len(merged) != 1 or stratum.subsumptions:
        return None
    position, merge = merged[0]
    if isinstance(merge, Call) and merge.op in ("min", "max"):
        return Best(relation.name, position, 1 if merge.op == "min" else -1)
    return None


def _subsumed(program: Program, stratum: Stratum) -> Best | None:
    found = {_order_of(subsumption) for subsumption in stratum.subsumptions}
    return found.pop() if len(found) == 1 else None


def _order_of(subsumption: Subsumption) -> Best | None:
    """The order of a subsumption like `r(x, a) <= r(x, b) :- b < a.`, in which two rows agree in all columns but one,
    and a comparison of that column is the whole condition; None for any other subsumption."""
    query = query_of(subsumption.body)
    match query.literals:
        case [
            Rows(source=low_name) as low,
            Rows(source=high_name) as high,
            Where(Compare(op, Column() as a, Column() as b)),
        ]:
            if not (low_name == high_name == subsumption.relation and _is_projection(query, low, high)):
                return None
        case _:
            return None
    differ = [i for i, (x, y) in enumerate(zip(low.variables, high.variables, strict=True)) if x != y]
    if len(differ) != 1:
        return None
    position = differ[0]
    pair = low.variables[position], high.variables[position]
    if (a, b) == pair:
        sign = {">": 1, ">=": 1, "<": -1, "<=": -1}.get(op)
    elif (b, a) == pair:
        sign = {"<": 1, "<=": 1, ">": -1, ">=": -1}.get(op)
    else:
        return None
    return Best(subsumption.relation, position, sign) if sign else None


def _is_projection(query: Query, low: Rows, high: Rows) -> bool:
    variables = [*low.variables, *high.variables]
    plain = len(set(low.variables)) == len(low.variables) and len(set(high.variables)) == len(high.variables)
    return plain and query.output == list(variables)

"""A query as a program: the rows of a relation that have given values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flintlog.ir.nodes import FlatMap, JoinFlatMap, Node, Scan, Values
from flintlog.ir.program import Program, Relation, Rule, Stratum
from flintlog.ir.scalar import Column
from flintlog.passes.remove_unneeded import needed_only
from flintlog.passes.sip.sideways import rule_ids
from flintlog.types import Value


def query_program(program: Program, relation: str, values: Mapping[int, Value]) -> tuple[Program, str]:
    """The part of a program that a query needs, `path(1, y)` as `("path", {0: 1})`, and the relation in it that has the
    answer: the rows of `relation` with these values at these positions. The passes make use of the values if that
    relation is the only one that is wanted: `magic(result, PassContext(frozenset({name})))`.

    >>> from flintlog.ir.text import parse_program
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     input edge
    ...     stratum edge
    ... ''')
    >>> query_program(program, "edge", {0: 1})[1]
    'edge$query'
    """
    asked = program.relations[relation]
    name = f"{relation}$query"
    schema = tuple(Column(f.name, kind) for f, kind in zip(asked.columns, asked.kinds, strict=True))
    output = tuple((column.name, column) for column in schema)
    rows: Node = FlatMap(Scan(relation, schema), (), output)
    if values:
        given = tuple(schema[position] for position in sorted(values))
        constants = Values(given, (tuple(values[position] for position in sorted(values)),))
        rows = JoinFlatMap(constants, Scan(relation, schema), tuple(c.name for c in given), (), output)
    last = max((id for stratum in program.strata for id in rule_ids(stratum)), default=0)
    stratum = Stratum((name,), recursive=False, rules=(Rule(last + 1, name, rows),))
    answer = Relation(name, asked.columns, asked.kinds)
    whole = replace(program, relations={**program.relations, name: answer}, strata=(*program.strata, stratum))
    return needed_only(whole, {name}), name

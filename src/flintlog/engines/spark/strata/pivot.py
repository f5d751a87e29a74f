"""Strata that fall into parts which never need one another: some column of every relation keeps its value from the rows
a rule reads to the row it derives (the pivot). Rows with different values there can be evaluated in different tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product

from flintlog.engines.queries.best import best_of
from flintlog.engines.queries.query import Absent, Query, Rows, query_of
from flintlog.engines.spark.embedded.placement import EVERYWHERE
from flintlog.engines.spark.strata.rebuild import node_of
from flintlog.ir.program import Program, Rule, Stratum
from flintlog.ir.scalar import Column
from flintlog.ir.visit import relations_of

# So many ways to choose a column of each relation are tried.
MOST_WAYS = 4096


@dataclass(frozen=True)
class Decomposed:
    """A stratum as every task evaluates it. Of `reads`, by the name that rules use: the relation, and the column whose
    value sends its rows to a task, or EVERYWHERE. `whole` is evaluated first, in every task alike: rules whose rows no
    input sends anywhere; then each task takes its own rows of these."""

    program: Program
    stratum: Stratum
    pivots: Mapping[str, int]
    reads: Mapping[str, tuple[str, int]]
    whole: Stratum | None = None
    whole_of: Mapping[str, str] = field(default_factory=dict)


def find_pivots(program: Program, stratum: Stratum) -> dict[str, int] | None:
    """For each relation of a stratum, a column that its rules hand on from row to row; None if there is none."""
    if not stratum.recursive:
        return None
    own = frozenset(stratum.relations)
    queries = [(rule, query_of(rule.body)) for rule in stratum.rules]
    best = best_of(program, stratum)
    columns = [
        [i for i in range(len(program.relations[name].columns)) if best is None or i != best.position]
        for name in stratum.relations
    ]
    for ways in islice(product(*columns), MOST_WAYS):
        pivots = dict(zip(stratum.relations, ways, strict=True))
        if all(_hands_on(rule, query, pivots, own) for rule, query in queries):
            return pivots
    return None


def decompose(program: Program, stratum: Stratum, pivots: Mapping[str, int]) -> Decomposed:
    """The stratum with rules that read, where they can, only the rows of their task."""
    own = frozenset(stratum.relations)
    reads: dict[str, tuple[str, int]] = {}
    relations = dict(program.relations)
    rules: list[Rule] = []
    whole: list[Rule] = []
    whole_of = {name: f"{name}@all" for name in stratum.relations}
    for rule in stratum.rules:
        query = query_of(rule.body)
        if any(rows.source in own for rows in _rows(query)):
            rules.append(rule)
            continue
        mine = _sends(query, query.output[pivots[rule.relation]])
        if mine is None:
            whole.append(replace(rule, relation=whole_of[rule.relation]))
            continue
        rows, column = mine
        name = f"{rows.source}@{column}"
        reads[name] = (str(rows.source), column)
        relations[name] = replace(program.relations[str(rows.source)], name=name)
        literals = [replace(rows, source=name) if literal is rows else literal for literal in query.literals]
        names = tuple(c.name for c in rule.body.schema)
        rules.append(replace(rule, body=node_of(Query(literals, query.output), names)))
    for rule in (*rules, *whole):
        for name in relations_of(rule.body, {}) - own - reads.keys():
            reads[name] = (name, EVERYWHERE)
    for name in stratum.relations:
        reads[name] = (name, pivots[name])
        relations[whole_of[name]] = replace(program.relations[name], name=whole_of[name])
    first = Stratum(tuple(whole_of.values()), False, tuple(whole)) if whole else None
    last = replace(stratum, rules=tuple(rules))
    strata = (last,) if first is None else (first, last)
    return Decomposed(replace(program, relations=relations, strata=strata), last, pivots, reads, first, whole_of)


def _rows(query: Query) -> list[Rows]:
    return [literal for literal in query.literals if isinstance(literal, Rows)]


def _hands_on(rule: Rule, query: Query, pivots: Mapping[str, int], own: frozenset[str]) -> bool:
    """Whether all rows of the stratum that a rule reads have the pivot of the row it derives."""
    head = query.output[pivots[rule.relation]]
    for literal in query.literals:
        if isinstance(literal, Absent) and own & relations_of(literal.node, {}):
            return False
        if not isinstance(literal, Rows):
            continue
        if isinstance(literal.source, str):
            if literal.source in own and literal.variables[pivots[literal.source]] != head:
                return False
        elif own & relations_of(literal.source, {}):
            return False
    return True


def _sends(query: Query, value: object) -> tuple[Rows, int] | None:
    """An atom with this value in one of its columns: its rows can be those of a task."""
    if isinstance(value, Column):
        for rows in _rows(query):
            if isinstance(rows.source, str) and value in rows.variables:
                return rows, rows.variables.index(value)
    return None

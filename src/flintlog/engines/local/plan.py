"""The order in which a query's literals run: a pipeline of steps over batches of bindings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flintlog.diagnostics import InternalError
from flintlog.engines.local.join_order import best_order
from flintlog.engines.local.statistics import Statistics
from flintlog.engines.queries.query import Absent, Literal, Query, Rows, reads
from flintlog.ir.nodes import Each, Let, Step, Where
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.scalar import Column, Compare, Condition, Const, Reinterpret, Scalar
from flintlog.ir.visit import terms_of
from flintlog.types import Kind


@dataclass(frozen=True, eq=False)
class Probe:
    """Binds variables from the rows of a source whose columns `key` have the values of bound variables. `same` are
    pairs of columns that must be equal, because a variable stands in both."""

    rows: Rows
    key: tuple[int, ...]
    values: tuple[Column, ...]
    binds: tuple[tuple[int, Column], ...]
    same: tuple[tuple[int, int], ...]
    delta: bool


PlanStep: TypeAlias = Probe | Absent | Step


@dataclass(frozen=True, eq=False)
class Plan:
    steps: tuple[PlanStep, ...]
    output: tuple[Scalar, ...]


def plan_query(
    query: Query,
    delta: int | None,
    statistics: Statistics | None,
    pinned: Sequence[Rows] | None = None,
    given: Collection[str] = (),
) -> Plan:
    """A pipeline that begins at the literal `delta`, which reads new rows only, or with bindings of the variables
    `given`, or where it is cheapest, and goes on with sources in the order that finds the fewest rows on the way, or in
    the `pinned` one. Conditions run as soon as they can, but what has no value for some operands waits for all that
    stands before it: that may be there to keep these operands away."""
    query = _with_constants_bound(query)
    bound: set[str] = set(given)
    partial = {id(literal) for literal in query.literals if _is_partial(literal)}
    steps: list[PlanStep] = []
    waiting = list(query.literals)
    first = query.literals[delta] if delta is not None else None
    if pinned is None:
        order = best_order(query, delta, statistics, given)
    else:
        order = [*pinned, *(rows for rows in query.literals if isinstance(rows, Rows) and rows not in pinned)]
        if isinstance(first, Rows) and _is_connected(first, order):
            first = None

    def place(literal: Literal) -> None:
        waiting.remove(literal)
        if isinstance(literal, Rows):
            probe = _probe(literal, bound, is_delta=delta is not None and literal is query.literals[delta])
            steps.append(probe)
            bound.update(variable.name for variable in literal.variables)
        else:
            steps.append(literal)
            if isinstance(literal, Let | Each):
                bound.add(literal.column.name)

    if first is None and pinned is None and order and not given:
        first = order[0]  # scanning one relation for constants is less work than an index that nobody else may need
    if first is not None:
        place(first)
    while waiting:
        ready = [
            w
            for w in waiting
            if not isinstance(w, Rows) and reads(w) <= bound and (id(w) not in partial or w is waiting[0])
        ]
        if ready:
            place(min(ready, key=_rank))
            continue
        following = next((rows for rows in order if rows in waiting), None)
        if following is None:
            raise InternalError("local", "a literal's variables are never bound")
        place(following)
    return Plan(tuple(_fold_lets(steps, given)), tuple(query.output))


def _with_constants_bound(query: Query) -> Query:
    """A variable that must be a constant has its value from the start, so that rows can be looked up by it."""

    def bound(literal: Literal) -> Literal:
        match literal:
            case Where(Compare("=", Column() as column, Const() as value)) if column.kind is not Kind.FLOAT:
                return Let(column, value)
            case Where(Compare("=", Const() as value, Column() as column)) if column.kind is not Kind.FLOAT:
                return Let(column, value)
        return literal

    return Query([bound(literal) for literal in query.literals], query.output)


def _is_connected(rows: Rows, order: Sequence[Rows]) -> bool:
    """Whether a source has a variable of one that stands before it: its new rows can then be looked up there."""
    before = order[: order.index(rows)]
    names = {variable.name for other in before for variable in other.variables}
    return any(variable.name in names for variable in rows.variables)


def _is_partial(literal: Literal) -> bool:
    """Whether the program ends with an error, or hardly at all, if the literal sees operands that an earlier one would
    have kept out."""
    match literal:
        case Rows():
            return False
        case Each():
            return True
        case Absent():
            terms: Sequence[Scalar | Condition] = literal.values
        case _:
            terms = terms_of(literal)
    return any(may_fail(term) for term in terms)


def _rank(literal: Literal) -> int:
    """Filters before what computes, and what computes before what multiplies."""
    return {Where: 0, Absent: 1, Let: 2, Each: 3}[type(literal)]


def _probe(rows: Rows, bound: set[str], *, is_delta: bool) -> Probe:
    key: list[int] = []
    values: list[Column] = []
    binds: list[tuple[int, Column]] = []
    same: list[tuple[int, int]] = []
    first: dict[str, int] = {}
    for position, variable in enumerate(rows.variables):
        if variable.name in bound:
            key.append(position)
            values.append(variable)
        elif variable.name in first:
            same.append((first[variable.name], position))
        else:
            first[variable.name] = position
            binds.append((position, variable))
    return Probe(rows, tuple(key), tuple(values), tuple(binds), tuple(same), is_delta)


def _fold_lets(steps: list[PlanStep], given: Collection[str]) -> list[PlanStep]:
    """A computed column that is already bound is a comparison; one of a range, a comparison with each of its values."""
    bound: set[str] = set(given)
    result: list[PlanStep] = []
    for step in steps:
        if isinstance(step, Let) and step.column.name in bound:
            step = Where(_is_word(step.column, step.value))
        elif isinstance(step, Each) and step.column.name in bound:
            value = Column(f"{step.column.name}.each", step.column.kind)
            result.append(Each(value, step.bounds))
            step = Where(_is_word(step.column, value))
        if isinstance(step, Probe):
            bound.update(variable.name for variable in step.rows.variables)
        elif isinstance(step, Let | Each):
            bound.add(step.column.name)
        result.append(step)
    return result


def _is_word(column: Column, value: Scalar) -> Compare:
    """Whether a column has a value, as rows that are looked up by it would: of floats, NaN has itself, and 0.0 is not
    -0.0. Otherwise it would depend on the order of joins what follows."""
    if column.kind is not Kind.FLOAT:
        return Compare("=", column, value)
    return Compare("=", Reinterpret(column, Kind.NUMBER), Reinterpret(value, Kind.NUMBER))

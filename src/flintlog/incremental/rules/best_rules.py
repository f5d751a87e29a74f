"""Strata that keep the best value of each key, and that can be kept up row by row.

A rule of such a stratum reads its relation at most once. Here, in addition, a better value of the row that it reads
must give a better value of the row that it makes: the value itself, plus or minus something that has nothing to do with
it. Then a best row is always made of best rows, of an earlier round, and a row that has no such support is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flintlog.engines.queries.best import Best, best_of
from flintlog.engines.queries.query import Query, Rows, query_of, recursive_rows
from flintlog.incremental.rules.clause import Clause
from flintlog.ir.nodes import Let, Where
from flintlog.ir.program import Program, Stratum
from flintlog.ir.scalar import Call, Column, Compare, Const, Scalar
from flintlog.ir.visit import columns_of, terms_of
from flintlog.types import Kind

# Comparisons that a smaller left side still fulfils; the others are those of a larger one.
_FOR_SMALLER, _FOR_LARGER = ("<", "<="), (">", ">=")


def kept_by_rows(program: Program, stratum: Stratum) -> Best | None:
    """How the stratum keeps best values, if it can be kept up row by row."""
    best = best_of(program, stratum)
    if best is None:
        return None
    queries = [query_of(rule.body) for rule in stratum.rules]
    return best if all(_is_strict(query, best) for query in queries) else None


def _is_strict(query: Query, best: Best) -> bool:
    places = recursive_rows(query, (best.relation,))
    if not places:
        return True
    own = query.literals[places[0]]
    assert isinstance(own, Rows)
    value = own.variables[best.position].name
    if [column.name for column in own.variables].count(value) > 1:
        return False
    computed = {literal.column.name: literal.value for literal in query.literals if isinstance(literal, Let)}
    values = _with_value(value, computed)
    for literal in query.literals:
        match literal:
            case Let():
                if literal.column.name in values and not _is_shifted(literal.value, values):
                    return False
            case Where(condition):
                if columns_of(condition) & values and not _stays_true(condition, values, best.sign):
                    return False
            case Rows(variables=variables):
                if literal is not own and any(column.name in values for column in variables):
                    return False
            case _:
                terms = literal.values if hasattr(literal, "values") else terms_of(literal)
                if any(columns_of(term) & values for term in terms):
                    return False
    keys = [term for place, term in enumerate(query.output) if place != best.position]
    return not any(columns_of(term) & values for term in keys) and _is_shifted(query.output[best.position], values)


def _with_value(value: str, computed: Mapping[str, Scalar]) -> set[str]:
    """The variables that are computed from the value, and its own."""
    found, size = {value}, 0
    while len(found) > size:
        size = len(found)
        found |= {name for name, term in computed.items() if columns_of(term) & found}
    return found


def _is_shifted(term: Scalar, values: set[str]) -> bool:
    """Whether a term is the value plus or minus something else."""
    match term:
        case Column(name):
            return name in values
        case Call("+", (left, right)):
            return (_is_shifted(left, values) and not columns_of(right) & values) or (
                _is_shifted(right, values) and not columns_of(left) & values
            )
        case Call("-", (left, right)):
            return _is_shifted(left, values) and not columns_of(right) & values
    return False


def _stays_true(condition: object, values: set[str], sign: int) -> bool:
    """Whether a condition that holds for a value holds for every better one."""
    match condition:
        case Compare(op, left, right) if not columns_of(right) & values and _is_shifted(left, values):
            return op in (_FOR_SMALLER if sign > 0 else _FOR_LARGER)
        case Compare(op, left, right) if not columns_of(left) & values and _is_shifted(right, values):
            return op in (_FOR_LARGER if sign > 0 else _FOR_SMALLER)
    return False


# --- Ranges ---------------------------------------------------------------------------------------

Range = tuple[int, int]


def may_wrap(clause: Clause, best: Best, range_of: Callable[[str, int], Range | None], bits: int) -> bool:
    """Whether a rule could compute a value beyond the words there are, as far as the ranges of columns tell: a better
    value might then give a worse one."""
    ranges: dict[str, Range | None] = {}
    for rows in clause.rows:
        for position, column in enumerate(rows.variables):
            ranges[column.name] = range_of(str(rows.source), position)
    for step in clause.steps:
        if isinstance(step, Let):
            ranges[step.column.name] = _range(step.value, ranges)
    value = _range(clause.output[best.position], ranges)
    limit = 1 << (bits - 1)
    return clause.is_recursive and not (value is not None and -limit <= value[0] and value[1] < limit)


def _range(term: Scalar, ranges: Mapping[str, Range | None]) -> Range | None:
    """Between which numbers a term is; None if that is not known."""
    match term:
        case Const(int() as value, Kind.NUMBER):
            return value, value
        case Column(name):
            return ranges.get(name)
        case Call("+" | "-" as op, (left, right)):
            a, b = _range(left, ranges), _range(right, ranges)
            if a is not None and b is not None:
                return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[1], a[1] - b[0])
    return None

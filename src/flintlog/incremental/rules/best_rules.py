"""Which strata keep the best value of each key and can be updated row by row.

A rule of such a stratum reads the stratum's relation at most once. In addition, the value that it derives must be the
value that it reads, plus or minus a term that does not depend on it. Then a better row is derived from a better row:
each best row is derived from best rows of earlier rounds, and a row without such a derivation is not in the relation.
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

# Comparisons that stay true when their left side gets smaller, and when it gets larger.
_FOR_SMALLER, _FOR_LARGER = ("<", "<="), (">", ">=")


def kept_by_rows(program: Program, stratum: Stratum) -> Best | None:
    """How the stratum keeps best values; None if it does not, or cannot be updated row by row."""
    best = best_of(program, stratum)
    if best is None:
        return None
    queries = [query_of(rule.body) for rule in stratum.rules]
    return best if all(_is_strict(query, best) for query in queries) else None


def _is_strict(query: Query, best: Best) -> bool:
    positions = recursive_rows(query, (best.relation,))
    if not positions:
        return True
    own = query.literals[positions[0]]
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
    keys = [term for position, term in enumerate(query.output) if position != best.position]
    return not any(columns_of(term) & values for term in keys) and _is_shifted(query.output[best.position], values)


def _with_value(value: str, computed: Mapping[str, Scalar]) -> set[str]:
    """The variable `value`, and the variables computed from it."""
    found, size = {value}, 0
    while len(found) > size:
        size = len(found)
        found |= {name for name, term in computed.items() if columns_of(term) & found}
    return found


def _is_shifted(term: Scalar, values: set[str]) -> bool:
    """Whether a term is one of `values`, plus or minus terms that do not depend on them."""
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
    """Whether a recursive rule may compute a value that does not fit into `bits`, given the ranges of columns: a value
    that wraps around can turn a better value into a worse one."""
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
    """The least and the greatest value of a term; None if they are unknown."""
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

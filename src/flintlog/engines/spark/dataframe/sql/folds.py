"""Aggregates that SQL computes on words: counts of rows, and sums and extremes of numbers."""

from __future__ import annotations

from flintlog.engines.spark.dataframe.sql.scalars import Scalars, is_native, quoted
from flintlog.ir.nodes import Aggregate, Fold
from flintlog.types import Kind

_HALF = "4294967295L"


def in_sql(fold: Fold) -> bool:
    """Whether SQL computes the fold."""
    if fold.op == "count":
        return True
    if fold.op not in ("sum", "min", "max") or fold.value is None:
        return False
    return fold.value.kind in (Kind.NUMBER, Kind.UNSIGNED) and is_native(fold.value)


def fold_text(node: Aggregate, text: str, scalars: Scalars) -> str:
    """The folded groups of a text's rows. Without `by` there is one group; it has a row even if it is empty, provided
    that the fold has a default and the node has keys."""
    what = ", ".join([*map(quoted, node.by), f"{_folded(node.fold, scalars)} AS {quoted(node.into)}"])
    text = f"SELECT {what} FROM ({text})"
    if node.by:
        return f"{text} GROUP BY {', '.join(map(quoted, node.by))}"
    return text if node.keys is not None and node.fold.has_default else f"{text} HAVING count(*) > 0L"


def best_text(text: str, key: list[str], column: str, sign: int, kind: Kind, names: list[str], scalars: Scalars) -> str:
    """For each key, the row with the least (sign 1) or greatest (-1) value of a column."""
    best = _extreme("min" if sign > 0 else "max", column, kind, scalars)
    what = ", ".join(f"{best} AS {name}" if name == column else name for name in names)
    grouped = f" GROUP BY {', '.join(key)}" if key else " HAVING count(*) > 0L"
    return f"SELECT {what} FROM ({text}){grouped}"


def _folded(fold: Fold, scalars: Scalars) -> str:
    if fold.op == "count":
        return "count(*)"
    assert fold.value is not None
    value = scalars.scalar(fold.value)
    if fold.op == "sum":
        return _sum(value, scalars)
    return _extreme(fold.op, value, fold.value.kind, scalars)


def _extreme(op: str, value: str, kind: Kind, scalars: Scalars) -> str:
    extreme = f"{op}({scalars.ordered(value, kind)})"
    if kind is Kind.UNSIGNED:
        return scalars.ordered(extreme, kind) if scalars.whole else scalars.wrapped(extreme)
    return extreme


def _sum(value: str, scalars: Scalars) -> str:
    """The upper and lower halves of words are added separately: sums of two billion halves do not overflow."""
    if not scalars.whole:
        return scalars.wrapped(f"coalesce(sum({value}), 0L)")
    low = f"coalesce(sum({value} & {_HALF}), 0L)"
    high = f"coalesce(sum(shiftright({value}, 32)), 0L)"
    return f"(shiftleft({high} + shiftright({low}, 32), 32) | ({low} & {_HALF}))"

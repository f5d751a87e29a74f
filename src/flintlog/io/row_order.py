"""The order in which rows are written: numbers by size, symbols by text, records and branches by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flintlog.io.schema import Schema
from flintlog.types import Adt, Kind, Row, Value


def ordered(rows: Iterable[Row], schema: Schema) -> list[Row]:
    """The rows sorted column by column; nil comes before every record, not-a-number after every number."""
    rows = list(rows)
    kinds = schema.kinds()
    if all(kind in (Kind.NUMBER, Kind.UNSIGNED, Kind.SYMBOL) for kind in kinds):
        rows.sort()
        return rows
    keys = [_KEYS.get(kind) for kind in kinds]
    rows.sort(key=lambda row: [key(value) if key else value for key, value in zip(keys, row, strict=True)])
    return rows


def _float_key(value: Value) -> Any:
    return (value != value, 0.0 if value != value else value)


def _nested_key(value: Value) -> Any:
    """The parts of a value in reading order, each with a rank in front. Two values of one type have the same shape up
    to their first difference, so comparing the flat lists compares the values; comparing the values themselves would
    recurse as deep as they nest."""
    flat: list[Any] = []
    todo: list[Value] = [value]
    while todo:
        item = todo.pop()
        if item is None:
            flat.append(0)
        elif isinstance(item, Adt):
            flat.append(item.branch)
            todo.extend(reversed(item.args))
        elif isinstance(item, tuple):
            flat.append(1)
            todo.extend(reversed(item))
        else:
            flat.append(_float_key(item) if isinstance(item, float) else item)
    return flat


_KEYS: dict[Kind, Callable[[Value], Any]] = {
    Kind.FLOAT: _float_key,
    Kind.RECORD: _nested_key,
    Kind.ADT: _nested_key,
}

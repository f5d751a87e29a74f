"""Rows as JSON, read and written a whole column at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from flintlog.io.atomic import decode
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.io.column_values import checked_items, no_garbage_collection
from flintlog.io.formats.json_rows import json_text, scalar_text
from flintlog.io.schema import Schema
from flintlog.types import Field, Kind

_ROWS_AT_ONCE = 1 << 16


def read_json_columns(data: bytes, schema: Schema) -> ColumnFacts | None:
    """The rows of an array of lists, or of objects, of plain values; None of anything else."""
    with no_garbage_collection():
        try:
            rows = json.loads(decode(data))
            items = _items(rows, schema.columns)
        except (ValueError, RecursionError, KeyError):
            return None
        if items is None:
            return None
        size = len(rows)
        rows = None  # millions of lists, to be gone before the collector is back
    columns = []
    for column, values in zip(schema.columns, items, strict=True):
        scalar = schema.scalar_of(column)
        checked = None if scalar is None else checked_items(values, scalar, schema.word_size)
        if checked is None:
            return None
        columns.append(checked)
    return ColumnFacts(tuple(columns), size)


def _items(rows: Any, columns: Sequence[Field]) -> list[list[Any]] | None:
    """The items of each column. A list may be longer than the relation is wide, an object may not."""
    if not isinstance(rows, list) or not rows:
        return None
    kinds, sizes = set(map(type, rows)), set()
    if kinds in ({list}, {dict}):
        sizes = set(map(len, rows))
    if kinds == {list} and min(sizes) >= len(columns):
        return [list(map(itemgetter(place), rows)) for place in range(len(columns))]
    if kinds == {dict} and sizes == {len(columns)}:
        return [list(map(itemgetter(column.name), rows)) for column in columns]
    return None


def written_json_columns(schema: Schema, facts: ColumnFacts, as_objects: bool) -> Iterator[str]:
    """The same text as of the same rows."""
    opening, closing = "{}" if as_objects else "[]"
    keys = [json_text(column.name) + ": " if as_objects else "" for column in schema.columns]
    # A percent sign in a name would be taken for a place.
    row = opening + ", ".join(key.replace("%", "%%") + "%s" for key in keys) + closing
    prepared = [_prepared(column) for column in facts.columns]
    yield "["
    separator = ""
    for start in range(0, len(facts), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        texts = [_texts(values[rows], column, schema) for values, column in zip(prepared, schema.columns, strict=True)]
        yield separator + ",\n".join(map(row.__mod__, zip(*texts, strict=True)))
        separator = ",\n"
    yield "]\n"


def _prepared(values: Any) -> Any:
    """Each symbol is turned into JSON once, however many rows have it."""
    return Symbols(values.positions, list(map(json_text, values.texts))) if isinstance(values, Symbols) else values


def _texts(values: Any, column: Field, schema: Schema) -> list[Any]:
    items: list[Any] = values.tolist()
    scalar = schema.scalar_of(column)
    if scalar is not None and scalar.kind is Kind.FLOAT:
        return [scalar_text(item, scalar, schema.word_size) for item in items]
    return items

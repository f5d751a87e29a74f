"""Rows in an SQLite database, read and written as columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from flintlog.io.atomic import cannot_write, encode
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.io.column_values import checked_items, no_garbage_collection
from flintlog.io.formats.sqlite import SYMBOLS, create_table, insertion, intern, open_database, quoted, transaction
from flintlog.io.schema import Schema
from flintlog.types import Kind, ScalarType

_ROWS_AT_ONCE = 1 << 16


def read_sqlite_columns(database: str, schema: Schema) -> ColumnFacts | None:
    """The rows of the table or view named like the relation; None where they have to be read carefully."""
    items: list[list[Any]] = [[] for _ in schema.columns]
    try:
        # Without a function for texts: those that are no UTF-8 are an error here.
        with closing(sqlite3.connect(database)) as connection, no_garbage_collection():
            cursor = connection.execute(f"SELECT * FROM {quoted(schema.name)}")
            if len(cursor.description) < len(items):
                return None
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                for known, more in zip(items, zip(*rows, strict=True), strict=False):
                    known += more
    except sqlite3.Error:
        return None
    columns = []
    for column, values in zip(schema.columns, items, strict=True):
        scalar = schema.scalar_of(column)
        checked = None if scalar is None else _checked(values, scalar, schema.word_size)
        if checked is None:
            return None
        columns.append(checked)
    return ColumnFacts(tuple(columns), len(items[0]))


def _checked(items: list[Any], scalar: ScalarType, word_size: int) -> Any:
    if scalar.kind is not Kind.UNSIGNED or scalar.bits not in (None, 64):
        return checked_items(items, scalar, word_size)
    # An unsigned number above the greatest SQLite integer is stored as the negative one with the same bits.
    words = checked_items(items, ScalarType(scalar.name, Kind.NUMBER, 64), 64)
    return None if words is None else words.view(np.uint64)  # type: ignore[union-attr]  # numbers give no symbols


def write_sqlite_columns(database: str, schema: Schema, facts: ColumnFacts) -> None:
    """Replaces the relation's table and view in one transaction; what else is in the database stays."""
    try:
        with closing(open_database(database)) as connection, transaction(connection), no_garbage_collection():
            create_table(connection, schema)
            numbers = _symbol_numbers(facts, connection)
            stored = [_stored(column, numbers) for column in facts.columns]
            for start in range(0, len(facts), _ROWS_AT_ONCE):
                block = [_items(column[start : start + _ROWS_AT_ONCE]) for column in stored]
                connection.executemany(insertion(schema), zip(*block, strict=True))
    except sqlite3.Error as error:
        raise cannot_write(Path(database), error) from error


def _stored(column: Any, numbers: Mapping[str, int]) -> Any:
    """The column as the table has it: symbols as numbers, and unsigned numbers as signed ones with the same bits."""
    if isinstance(column, Symbols):
        return np.array([numbers[text] for text in column.texts], np.int64)[column.positions]
    return column.view(np.int64) if column.dtype == np.uint64 else column


def _items(column: Any) -> list[Any]:
    items: list[Any] = column.tolist()
    if column.dtype.kind == "f" and np.isnan(column).any():
        # SQLite makes NULL of not-a-number; its text comes back.
        return [item if item == item else "nan" for item in items]
    return items


def _symbol_numbers(facts: ColumnFacts, connection: sqlite3.Connection) -> Mapping[str, int]:
    """The numbers that the texts of all columns have in the table of symbols, where they all are then."""
    texts = list(
        dict.fromkeys(text for column in facts.columns if isinstance(column, Symbols) for text in column.texts)
    )
    stored = list(map(encode, texts))
    (taken,) = connection.execute(f"SELECT count(*) FROM {quoted(SYMBOLS)}").fetchone()
    # Two texts may be the same bytes: a symbol that is no UTF-8, cut out of one that is.
    if taken or len(set(stored)) < len(stored):
        return {text: intern(connection, text) for text in texts}
    # In a table without symbols nothing has to be looked up.
    insert = f"INSERT INTO {quoted(SYMBOLS)} VALUES (?, CAST(? AS TEXT))"
    connection.executemany(insert, enumerate(stored, start=1))
    return {text: number for number, text in enumerate(texts, start=1)}

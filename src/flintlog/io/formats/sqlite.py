"""Rows in an SQLite database, in Soufflé's layout: a table `_relation` with symbols as numbers, a table of symbols that
all relations share, and a view `relation` that puts the two together.

Soufflé stores the bit pattern of a float and the number of a record, from which nothing can be read back. Here a float
is stored as itself, and a record or branch as its text among the symbols.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.io.atomic import cannot_write, decode, encode
from flintlog.io.formats.json_values import float_value, integer_value
from flintlog.io.numerals import ValueTextError, integer_bounds
from flintlog.io.parameters import relation_name
from flintlog.io.problems import FileProblems
from flintlog.io.schema import Schema
from flintlog.io.text_values import quote_symbol
from flintlog.source import Span
from flintlog.types import Field, Kind, Row, Value

SYMBOLS = "__SymbolTable"


def database_name(relation: str, params: Mapping[str, str], directory: Path) -> str:
    """`filename`, or `dbname` as it used to be called: a file, a file: address or :memory:."""
    name = params.get("filename", params.get("dbname", relation_name(relation, params) + ".sqlite"))
    return name if name.startswith(("file:", ":memory:")) else str(directory / name)


def read_sqlite(database: str, schema: Schema, report: Report, span: Span) -> list[Row]:
    """The rows of the table or view named like the relation."""
    try:
        with closing(open_database(database)) as connection:
            return _read(connection, database, schema, report, span)
    except sqlite3.Error as error:
        raise FlintlogError([Diagnostic("E709", f"cannot read the database `{database}`: {error}", span)]) from error


def open_database(database: str) -> sqlite3.Connection:
    connection = sqlite3.connect(database, uri=database.startswith("file:"), isolation_level=None)
    connection.text_factory = decode
    return connection


def _read(connection: sqlite3.Connection, database: str, schema: Schema, report: Report, span: Span) -> list[Row]:
    named = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    if schema.name not in named:
        message = f"the database `{database}` has no table or view `{schema.name}`"
        note = f"it has {', '.join(f'`{name}`' for name in named)}" if named else "it is empty"
        raise FlintlogError([Diagnostic("E709", message, span, note)])
    cursor = connection.execute(f"SELECT * FROM {quoted(schema.name)}")
    found = len(cursor.description)
    if found < len(schema.columns):
        message = f"`{schema.name}` in `{database}` has {found} columns, the relation has {len(schema.columns)}"
        raise FlintlogError([Diagnostic("E710", message, span)])
    converters = [_reader(column, schema) for column in schema.columns]
    problems = FileProblems(report, f"{database} ({schema.name})")
    rows: list[Row] = []
    for number, items in enumerate(cursor, start=1):
        values: list[Value] = []
        for column, convert, item in zip(schema.columns, converters, items, strict=False):
            try:
                values.append(convert(item))
            except ValueTextError as error:
                code = "E704" if error.out_of_range else "E703"
                excerpt = "\t".join(map(str, items))
                problems.add(code, f"column `{column.name}`: {error.message}", excerpt, number)
        if len(values) == len(schema.columns):
            rows.append(tuple(values))
    problems.close()
    return rows


def _reader(column: Field, schema: Schema) -> Callable[[Any], Value]:
    scalar = schema.scalar_of(column)
    parse = schema.parser(column)
    if scalar is None:
        return lambda item: parse(_text(item))
    if scalar.kind is Kind.SYMBOL:
        # What Soufflé makes of a NULL.
        return lambda item: "n/a" if item is None else _text(item)

    def number(item: Any) -> Value:
        if item is None or isinstance(item, bytes):
            raise ValueTextError(f"a value of type `{scalar.name}` is missing")
        if isinstance(item, str):
            return parse(item)
        if scalar.kind is Kind.FLOAT:
            return float_value(item, scalar, schema.word_size)
        if scalar.kind is Kind.UNSIGNED and item < 0:
            # An unsigned number above the greatest SQLite integer is stored as the negative one with the same bits.
            item += integer_bounds(scalar, schema.word_size)[1] + 1
        return integer_value(item, scalar, schema.word_size)

    return number


def _text(item: Any) -> str:
    return decode(item) if isinstance(item, bytes) else str(item)


def write_sqlite(database: str, schema: Schema, rows: Iterable[Row]) -> None:
    """Replaces the relation's table and view in one transaction; what else is in the database stays."""
    try:
        with closing(open_database(database)) as connection, transaction(connection):
            create_table(connection, schema)
            writers = [_writer(column, schema, connection) for column in schema.columns]
            connection.executemany(
                insertion(schema),
                ([write(value) for write, value in zip(writers, row, strict=True)] for row in rows),
            )
    except (sqlite3.Error, OverflowError) as error:
        raise cannot_write(Path(database), error) from error


def insertion(schema: Schema) -> str:
    """The statement that adds a row to the relation's table."""
    places = ", ".join("?" * len(schema.columns))
    return f"INSERT OR IGNORE INTO {quoted('_' + schema.name)} VALUES ({places})"


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def create_table(connection: sqlite3.Connection, schema: Schema) -> None:
    """The relation's table, empty, its view, and the table of symbols if there is none yet."""
    table, view = quoted("_" + schema.name), quoted(schema.name)
    kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
    if kinds.get(schema.name) == "view":
        connection.execute(f"DROP VIEW {view}")
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {quoted(SYMBOLS)} (id INTEGER PRIMARY KEY, symbol TEXT UNIQUE)")
    places = [quoted(str(index)) for index in range(len(schema.columns))]
    # Short rows are kept in their index alone, as Soufflé does it.
    short = len(places) * 9 + 1 < 200
    key = f", PRIMARY KEY ({', '.join(places)})" if short else ""
    columns = ", ".join(place + " INTEGER" for place in places)
    connection.execute(f"CREATE TABLE {table} ({columns}{key}){' WITHOUT ROWID' if short else ''}")
    if kinds.get(schema.name) != "table":
        connection.execute(f"CREATE VIEW {view} AS {_view_query(schema, table, places)}")


def _view_query(schema: Schema, table: str, places: list[str]) -> str:
    selected, sources, conditions = [], [table], []
    for index, (column, place) in enumerate(zip(schema.columns, places, strict=True)):
        if _is_stored_as_symbol(column, schema):
            symbols = quoted(f"_symtab_{index}")
            selected.append(f"{symbols}.symbol AS {quoted(column.name)}")
            sources.append(f"{quoted(SYMBOLS)} AS {symbols}")
            conditions.append(f"{table}.{place} = {symbols}.id")
        else:
            selected.append(f"{table}.{place} AS {quoted(column.name)}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {', '.join(selected)} FROM {', '.join(sources)}{where}"


def _is_stored_as_symbol(column: Field, schema: Schema) -> bool:
    return schema.type_of(column).kind in (Kind.SYMBOL, Kind.RECORD, Kind.ADT)


def _writer(column: Field, schema: Schema, connection: sqlite3.Connection) -> Callable[[Value], Any]:
    if _is_stored_as_symbol(column, schema):
        print_value = schema.printer(column, quote_symbol)
        known: dict[str, int] = {}

        def symbol_id(value: Value) -> int:
            text = print_value(value)
            if text not in known:
                known[text] = intern(connection, text)
            return known[text]

        return symbol_id
    if schema.type_of(column).kind is Kind.UNSIGNED:
        return lambda value: value - (1 << 64) if isinstance(value, int) and value >> 63 else value
    # SQLite makes NULL of not-a-number; its text comes back.
    return lambda value: value if value == value else "nan"


def intern(connection: sqlite3.Connection, text: str) -> int:
    """The number of a symbol, which it gets if it has none."""
    # As bytes, because a symbol need not be valid UTF-8.
    symbol = encode(text)
    connection.execute(f"INSERT OR IGNORE INTO {quoted(SYMBOLS)} VALUES (NULL, CAST(? AS TEXT))", (symbol,))
    query = f"SELECT id FROM {quoted(SYMBOLS)} WHERE symbol = CAST(? AS TEXT)"
    identifier: int = connection.execute(query, (symbol,)).fetchone()[0]
    return identifier


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

"""SQLite databases in Soufflé's layout."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import Report
from flintlog.types import Adt, Row

Reader = Callable[..., list[Row]]
Writer = Callable[..., str]


def query(path: Path, text: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def test_layout(write: Writer, tmp_path: Path) -> None:
    write("x:number s:symbol", [(1, "a"), (2, "b"), (3, "a")], IO="sqlite", filename="db.sqlite")
    database = tmp_path / "db.sqlite"
    assert query(database, "SELECT * FROM _r ORDER BY 1") == [(1, 1), (2, 2), (3, 1)]
    assert query(database, "SELECT * FROM __SymbolTable ORDER BY 1") == [(1, "a"), (2, "b")]
    assert query(database, "SELECT x, s FROM r ORDER BY 1") == [(1, "a"), (2, "b"), (3, "a")]


def test_writing_again_replaces_the_rows_and_shares_the_symbols(write: Writer, tmp_path: Path) -> None:
    write("s:symbol", [("a",), ("b",)], IO="sqlite")
    write("s:symbol t:symbol", [("b", "c")], IO="sqlite")
    write("s:symbol", [("c",)], IO="sqlite", dbname="r.sqlite", name="other")
    database = tmp_path / "r.sqlite"
    assert query(database, "SELECT * FROM r") == [("b", "c")]
    assert query(database, "SELECT * FROM other") == [("c",)]
    assert query(database, "SELECT symbol FROM __SymbolTable ORDER BY id") == [("a",), ("b",), ("c",)]


def test_values_of_every_kind_come_back(write: Writer, read: Reader) -> None:
    columns = "x:unsigned f:float s:symbol l:List t:Tree"
    rows: list[Row] = [
        (0, -1.5, "\udcff", None, Adt("Leaf", ())),
        (2**64 - 1, 2.0, 'a, "b"', (1, (2, None)), Adt("Named", ('x, "y)',))),
    ]
    write(columns, rows, IO="sqlite")
    assert sorted(read(columns, IO="sqlite"), key=repr) == sorted(rows, key=repr)


def test_not_a_number_comes_back(write: Writer, read: Reader) -> None:
    write("f:float", [(math.nan,)], IO="sqlite")
    [(value,)] = read("f:float", IO="sqlite")
    assert isinstance(value, float)
    assert math.isnan(value)


def test_a_plain_table_will_do(read: Reader, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        connection.execute("CREATE TABLE r (a TEXT, b)")
        connection.execute("INSERT INTO r VALUES ('12', NULL), (13, 'x')")
        connection.commit()
    assert read("x:number s:symbol", IO="sqlite") == [(12, "n/a"), (13, "x")]


def test_problems(read: Reader, report: Report, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        connection.execute("CREATE TABLE r (a)")
        connection.execute("INSERT INTO r VALUES (1), ('x'), (NULL), (4294967296)")
        connection.commit()
    assert read("x:number", IO="sqlite", word_size=32) == [(1,)]
    assert [(error.code, error.span.line) for error in report.errors] == [("E703", 2), ("E703", 3), ("E704", 4)]
    read("x:number y:number", IO="sqlite")
    read("x:number", IO="sqlite", name="other", filename="r.sqlite")
    assert [error.code for error in report.errors if error.span.line == 1] == ["E709", "E710"]


def test_what_is_no_database(read: Reader, report: Report) -> None:
    assert read("x:number", b"this is text, " * 100, IO="sqlite", filename="r.sqlite") == []
    assert [error.code for error in report.errors] == ["E709"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(rows=st.sets(st.tuples(st.integers(-(2**63), 2**63 - 1), st.text())))
def test_comes_back(rows: set[Row], read: Reader, write: Writer) -> None:
    write("x:number s:symbol", rows, IO="sqlite")
    assert set(read("x:number s:symbol", IO="sqlite")) == rows

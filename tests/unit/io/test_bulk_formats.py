"""JSON, SQLite, Parquet and Arrow in columns: read as the careful reader reads them, written as rows are written."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import FlintlogError, Report
from flintlog.io import column_facts, read_facts, write_facts
from flintlog.io.column_facts import ColumnFacts, Symbols, read_columns
from flintlog.io.column_values import symbols_of
from flintlog.io.schema import Schema
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Field, Row, TypeTable

TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES}
FORMATS = ["jsonfile", "sqlite", "parquet", "arrow"]


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_facts, "SMALL", 0)


def fields(kinds: Sequence[str]) -> list[Field]:
    return [Field(f"c{i}", kind) for i, kind in enumerate(kinds)]


def bulk(folder: Path, kinds: Sequence[str], **params: str) -> list[Row] | None:
    found = read_columns("r", fields(kinds), params, TYPES, folder)
    return None if found is None else list(found)


def careful(folder: Path, kinds: Sequence[str], **params: str) -> tuple[list[Row], bool]:
    """The rows, and whether there was a mistake in the file."""
    report = Report()
    rows = read_facts("r", fields(kinds), params, TYPES, facts_dir=folder, report=report)
    return rows, report.has_errors


def agree(folder: Path, kinds: Sequence[str], **params: str) -> bool:
    """Whether the rows were read in bulk; then the careful reader reads the same."""
    found = bulk(folder, kinds, **params)
    if found is not None:
        expected, mistaken = careful(folder, kinds, **params)
        assert (repr(found), mistaken) == (repr(expected), False)
    return found is not None


def write(folder: Path, kinds: Sequence[str], rows: object, **params: str) -> str:
    stdout = io.StringIO()
    schema = Schema("r", fields(kinds), TYPES, 64)
    write_facts(schema, params, rows, output_dir=folder, stdout=stdout)  # type: ignore[arg-type]
    return stdout.getvalue()


class Stored:
    """Rows as an engine keeps them."""

    def __init__(self, rows: list[Row], kinds: Sequence[str]) -> None:
        self._rows = rows
        make: dict[str, Callable[[list[object]], object]] = {
            "number": lambda values: np.array(values, np.int64),
            "unsigned": lambda values: np.array(values, np.uint64),
            "float": lambda values: np.array(values, np.float64),
            "symbol": lambda values: symbols_of(values[::-1])[::-1],  # type: ignore[arg-type]
        }
        columns = [make[kind]([row[i] for row in rows]) for i, kind in enumerate(kinds)]
        self._facts = ColumnFacts(tuple(columns), len(rows))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def as_columns(self) -> ColumnFacts:
        return self._facts


_values: dict[str, st.SearchStrategy[object]] = {
    "number": st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-9, 9),
    "unsigned": st.integers(0, (1 << 64) - 1) | st.integers(0, 9),
    "float": st.floats(allow_nan=False),
    "symbol": st.text(st.sampled_from("ab %\"'\\,;äx\0\n\t\u2028"), max_size=4),
}
_kinds = st.lists(st.sampled_from(sorted(_values)), min_size=1, max_size=3)
_property = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(_kinds, st.sampled_from([*FORMATS, "file", "stdout"]), st.sampled_from(["object", "stream", ""]), st.data())
@_property
def test_columns_are_written_as_rows_are_and_come_back(
    tmp_path: Path, kinds: list[str], kind: str, form: str, data: st.DataObject
):
    rows = data.draw(st.lists(st.tuples(*(_values[kind] for kind in kinds)), max_size=8, unique_by=repr))
    params = {"IO": kind, "format": form, "filename": "r.data"}
    written = tmp_path / "r.data"
    written.unlink(missing_ok=True)
    said = write(tmp_path, kinds, Stored(rows, kinds), **params)
    contents = written.read_bytes() if written.exists() else b""
    if kind == "sqlite":
        with closing(sqlite3.connect(written)) as connection:
            connection.text_factory = bytes
            stored = connection.execute("SELECT * FROM r").fetchall()
        written.unlink()
    assert write(tmp_path, kinds, rows, **params) == said
    if kind == "sqlite":
        with closing(sqlite3.connect(written)) as connection:
            connection.text_factory = bytes
            assert sorted(connection.execute("SELECT * FROM r").fetchall()) == sorted(stored)
        assert agree(tmp_path, kinds, **params)
        written.unlink()
    elif kind in FORMATS:
        assert written.read_bytes() == contents
        assert agree(tmp_path, kinds, **params) or (kind == "jsonfile" and (not rows or "inf" in contents.decode()))
    elif kind == "file":
        assert written.read_bytes() == contents


_json_item = st.one_of(
    st.integers(-5, 300),
    st.just(1 << 64),
    st.sampled_from([1.0, 1.5, 1e39, "a", "1", True, None, [1], "nan"]),
    st.text(),
)
_more_kinds = st.lists(st.sampled_from([*_values, "int8", "uint8", "float32"]), min_size=1, max_size=3)


@given(_more_kinds, st.booleans(), st.data())
@_property
def test_any_json_is_read_alike(tmp_path: Path, kinds: list[str], objects: bool, data: st.DataObject):
    rows = data.draw(st.lists(st.lists(_json_item, min_size=len(kinds), max_size=len(kinds) + 1), max_size=4))
    names = [field.name for field in fields(kinds)] + ["more"]
    items = [dict(zip(names, row, strict=False)) for row in rows] if objects else rows
    (tmp_path / "r.json").write_text(json.dumps(items), "utf-8", "surrogatepass")
    agree(tmp_path, kinds, IO="jsonfile")


@given(_more_kinds, st.data())
@_property
def test_any_table_is_read_alike(tmp_path: Path, kinds: list[str], data: st.DataObject):
    item = st.one_of(st.integers(-5, 300), st.none(), st.floats(), st.text(max_size=2), st.binary(max_size=2))
    rows = data.draw(st.lists(st.tuples(*[item] * len(kinds)), max_size=4))
    (tmp_path / "r.sqlite").unlink(missing_ok=True)
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        connection.execute(f"CREATE TABLE r ({', '.join(f'c{i}' for i in range(len(kinds)))})")
        connection.executemany(f"INSERT INTO r VALUES ({', '.join('?' * len(kinds))})", rows)
        connection.commit()
    agree(tmp_path, kinds, IO="sqlite")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("array", "type_", "in_bulk"),
    [
        (pa.array([1, 2], pa.uint8()), "number", True),
        (pa.array([1, 2**64 - 1], pa.uint64()), "unsigned", True),
        (pa.array([1, 2**64 - 1], pa.uint64()), "number", False),
        (pa.array([1, 128]), "int8", False),
        (pa.array([-1]), "unsigned", False),
        (pa.array([1, None]), "number", False),
        (pa.array([7, 8, 7]).dictionary_encode(), "number", True),
        (pa.array([1, 2**53 + 1]), "float", True),
        (pa.array([0.1, float("inf"), -0.0], pa.float32()), "float", True),
        (pa.array([0.1]), "float32", True),
        (pa.array([1e39]), "float32", False),
        (pa.array([float("nan")]), "float", False),
        (pa.array(["a", "", "a"], pa.large_string()), "symbol", True),
        (pa.array(["a", "b", "a"], pa.string_view()), "symbol", True),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "symbol", True),
        (pa.array(["a", None]), "symbol", False),
        (pa.array([], pa.string()), "symbol", True),
        (pa.array([], pa.int64()), "number", True),
        (pa.array([1.5]), "number", False),
    ],
)
def test_arrow_types(tmp_path: Path, kind: str, array: pa.Array, type_: str, in_bulk: bool):
    table = pa.table({"other": pa.nulls(len(array)), "c0": array})
    if kind == "parquet":
        pq.write_table(table, tmp_path / "r.parquet")
    else:
        with pa.ipc.new_file(tmp_path / "r.arrow", table.schema) as writer:
            writer.write_table(table)
    assert agree(tmp_path, [type_], IO=kind) is in_bulk


def test_a_dictionary_that_says_a_text_twice_is_left_to_the_careful_reader(tmp_path: Path):
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "a"]))
    with pa.ipc.new_stream(tmp_path / "r.arrow", pa.schema([("c0", array.type)])) as writer:
        writer.write_table(pa.table({"c0": array}))
    assert bulk(tmp_path, ["symbol"], IO="arrow") is None


def test_symbols_of_many_groups_of_rows_are_told_apart(tmp_path: Path):
    names = [f"name {i % 997}" for i in range(120_000)]
    pq.write_table(pa.table({"c0": names}), tmp_path / "r.parquet", row_group_size=7000)
    with pa.ipc.new_file(tmp_path / "r.arrow", pa.schema([("c0", pa.string())])) as writer:
        writer.write_table(pa.table({"c0": names}), 7000)
    for kind in ("parquet", "arrow"):
        facts = read_columns("r", fields(["symbol"]), {"IO": kind}, TYPES, tmp_path)
        assert facts is not None
        (symbols,) = facts.columns
        assert isinstance(symbols, Symbols)
        assert (symbols.tolist(), len(symbols.texts)) == (names, 997)


@pytest.mark.parametrize(("kind", "suffix"), [("jsonfile", "json"), *((kind, kind) for kind in FORMATS[1:])])
def test_files_that_are_none(tmp_path: Path, kind: str, suffix: str):
    assert bulk(tmp_path, ["number"], IO=kind) is None
    (tmp_path / f"r.{suffix}").write_bytes(b"this is text, " * 100)
    assert bulk(tmp_path, ["number"], IO=kind) is None


def test_symbols_that_are_no_text(tmp_path: Path):
    rows: list[Row] = [("\udcff", 1), ("é", 2), ("\udcc3\udca9", 3)]
    for kind in ("file", "jsonfile", "sqlite"):
        write(tmp_path, ["symbol", "number"], Stored(rows, ["symbol", "number"]), IO=kind)
    assert (tmp_path / "r.csv").read_bytes() == "é\t2\n".encode() + "é\t3\n".encode() + b"\xff\t1\n"
    assert sorted(careful(tmp_path, ["symbol", "number"], IO="sqlite")[0]) == [("é", 2), ("é", 3), ("\udcff", 1)]
    with pytest.raises(FlintlogError, match="E713"):
        write(tmp_path, ["symbol", "number"], Stored(rows, ["symbol", "number"]), IO="parquet")
    assert not (tmp_path / "r.parquet").exists()


def test_sqlite_keeps_the_numbers_of_symbols(tmp_path: Path):
    kinds = ["symbol", "symbol"]
    write(tmp_path, kinds, Stored([("a", "b"), ("b", "a")], kinds), IO="sqlite")
    write(tmp_path, kinds, Stored([("c", "b")], kinds), IO="sqlite")
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        assert connection.execute("SELECT * FROM r").fetchall() == [("c", "b")]
        assert connection.execute("SELECT * FROM __SymbolTable").fetchall() == [(1, "a"), (2, "b"), (3, "c")]

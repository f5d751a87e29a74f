"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flintlog.diagnostics import FlintlogError, Report
from flintlog.types import Adt, Row

Reader = Callable[..., list[Row]]
Writer = Callable[..., str]

COLUMNS = "x:number u:unsigned f:float s:symbol l:List t:Tree b:int8"
ROWS: list[Row] = [
    (-1, 2**32 - 1, 0.5, 'a, "b"', (1, (2, None)), Adt("Named", ('x, "y)',)), -128),
    (7, 0, 1.5, "", None, Adt("Leaf", ()), 127),
]


@pytest.mark.parametrize("params", [{"IO": "parquet"}, {"IO": "arrow"}, {"IO": "arrow", "format": "stream"}])
@pytest.mark.parametrize("word_size", [32, 64])
def test_comes_back(params: dict[str, str], word_size: int, write: Writer, read: Reader, report: Report) -> None:
    write(COLUMNS, ROWS, word_size=word_size, **params)
    assert read(COLUMNS, word_size=word_size, **params) == ROWS
    assert report.sorted() == []


def test_types_follow_the_word_size(write: Writer, tmp_path: Path) -> None:
    write(COLUMNS, ROWS, word_size=32, IO="parquet")
    types = [str(type_) for type_ in pq.read_schema(tmp_path / "r.parquet").types]
    assert types == ["int32", "uint32", "float", "string", "string", "string", "int32"]


def test_columns_by_name_or_by_position(read: Reader, tmp_path: Path) -> None:
    table = pa.table({"y": pa.array(["a", "b"]).dictionary_encode(), "more": [0, 0], "x": pa.array([1, 2], pa.uint8())})
    pq.write_table(table, tmp_path / "r.parquet")
    assert read("x:number y:symbol", IO="parquet") == [(1, "a"), (2, "b")]
    pq.write_table(table.select(["x", "y"]), tmp_path / "r.parquet")
    assert read("n:number s:symbol", IO="parquet") == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ("x:number z:number", "the file has `x`, `y`, the relation `x`, `z`"),
        ("a:number b:symbol c:symbol", "the file has `x`, `y`, the relation `a`, `b`, `c`"),
        ("x:symbol y:symbol", "`x` is int64 in the file and `symbol` in the relation"),
    ],
)
def test_another_schema(columns: str, note: str, read: Reader, report: Report, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1], "y": ["a"]}), tmp_path / "r.parquet")
    assert read(columns, IO="parquet") == []
    assert [(error.code, error.note) for error in report.errors] == [("E710", note)]


def test_values_that_do_not_fit(read: Reader, report: Report, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, None, 2**40], "l": ["nil", "[1, nil]", "[1"]}), tmp_path / "r.parquet")
    assert read("x:number l:List", IO="parquet", word_size=32) == []
    assert [(error.code, error.span.line) for error in report.errors] == [("E703", 2), ("E704", 3), ("E703", 3)]


def test_what_is_no_such_file(read: Reader, report: Report) -> None:
    read("x:number", b"text", IO="parquet", filename="r.parquet")
    read("x:number", b"text", IO="arrow", filename="r.arrow")
    assert [error.code for error in report.errors] == ["E711", "E711"]


def test_bytes_that_are_no_text(write: Writer, tmp_path: Path) -> None:
    with pytest.raises(FlintlogError, match="E713"):
        write("s:symbol", [("\udcff",)], IO="parquet")
    assert list(tmp_path.iterdir()) == []

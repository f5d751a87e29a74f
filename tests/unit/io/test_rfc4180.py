"""rfc4180=true: quoted fields."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import Diagnostic, Report
from flintlog.io import write_facts
from flintlog.io.schema import Schema
from flintlog.types import Field, Row, TypeTable

Reader = Callable[..., list[Row]]
Writer = Callable[..., str]


@pytest.mark.parametrize(
    ("columns", "data", "params", "rows"),
    [
        ("s:symbol x:number", b"a,1\n", {}, [("a", 1)]),
        ("s:symbol x:number", b'"a, ""b""",1\r\n"",2\r\n', {}, [('a, "b"', 1), ("", 2)]),
        ("s:symbol x:number", b'"two\r\nlines",1\n"x",2\n', {}, [("two\r\nlines", 1), ("x", 2)]),
        ("s:symbol x:number", b'"s";"x"\n"a;b";1\n', {"delimiter": ";", "headers": "true"}, [("a;b", 1)]),
        ("p:Pair", b'"[""a, b"", 1]"\n', {}, [(("a, b", 1.0),)]),
        ("x:number s:symbol", b'"skip","a","1"\n', {"columns": "2:1"}, [(1, "a")]),
        ("s:symbol t:symbol", b"a[,b]\n", {}, [("a[", "b]")]),
        ("s:symbol", b'"a"\n\n"b"', {}, [("a",), ("",), ("b",)]),
        ("", b'"()"\n', {}, [()]),
    ],
)
def test_reads(
    columns: str, data: bytes, params: dict[str, str], rows: list[Row], read: Reader, report: Report
) -> None:
    assert read(columns, data, rfc4180="true", **params) == rows
    assert report.sorted() == []


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b'"a",1\n"b,2\n', "E705", "2:1"),
        (b'"two\nlines"x,1\n"b",2\n', "E705", "2:7"),
        (b'"two\nlines",1\n"b"\n', "E702", "3:4"),
        (b'"two\nlines",1\n"b",x\n', "E703", "3:5"),
    ],
)
def test_problems_have_their_place(data: bytes, code: str, place: str, read: Reader, report: Report) -> None:
    read("s:symbol x:number", data, rfc4180="true")
    [error] = report.errors
    assert (error.code, f"{error.span.line}:{error.span.column}") == (code, place)


def test_writes(write: Writer, tmp_path: Path) -> None:
    rows: list[Row] = [('5" x', 1, ("a, b", 0.5)), ("", 2, ('"', 1.0))]
    write("s:symbol x:number p:Pair", rows, rfc4180="true", headers="true")
    assert (tmp_path / "r.csv").read_bytes() == (b's\tx\tp\n"",2,"[""\\"""", 1]"\n"5\\"" x",1,"[""a, b"", 0.5]"\n')


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters='"')), st.integers(0))))
def test_comes_back(rows: list[Row], read: Reader, write: Writer, report: Report) -> None:
    rows = [(text, number % 2**64) for text, number in rows]  # type: ignore[operator]
    write("s:symbol x:unsigned", rows, rfc4180="true")
    assert read("s:symbol x:unsigned", filename="r.csv", rfc4180="true") == sorted(rows)
    assert not report.has_errors


@pytest.mark.parametrize(
    ("texts", "codes"), [(["plain", "back\\slash"], []), (['5" tube', 'a "b"'], ["W702"])], ids=["plain", "quotes"]
)
def test_warns_once_of_symbols_that_do_not_come_back(
    texts: list[str], codes: list[str], tmp_path: Path, types: TypeTable
) -> None:
    said: list[Diagnostic] = []
    rows: list[Row] = [(text,) for text in texts]
    schema = Schema("r", [Field("s", "symbol")], types, 64)
    write_facts(schema, {"rfc4180": "true"}, rows, output_dir=tmp_path, stdout=io.StringIO(), notify=said.append)
    assert [diagnostic.code for diagnostic in said] == codes

"""JSON, as lists and as objects."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import Report
from flintlog.types import Adt, Row

Reader = Callable[..., list[Row]]
Writer = Callable[..., str]

ROWS: list[Row] = [(1, 'a"\n\x01é\u2028', (1, (2, None))), (2, "b", None)]


def test_lists(write: Writer, read: Reader, tmp_path: Path) -> None:
    write("x:number s:symbol l:List", ROWS, IO="jsonfile")
    expected = '[[1, "a\\"\\n\\u0001é\\u2028", [1, [2, null]]],\n[2, "b", null]]\n'
    assert (tmp_path / "r.json").read_text("utf-8") == expected
    assert read("x:number s:symbol l:List", IO="jsonfile") == ROWS


def test_objects(write: Writer, read: Reader, tmp_path: Path) -> None:
    write("x:number l:List", [(1, (2, None))], IO="json", filename="o.json", format="object")
    expected = '[{"x": 1, "l": {"head": 2, "tail": null}}]\n'
    assert (tmp_path / "o.json").read_text() == expected
    assert read("x:number l:List", IO="json", filename="o.json") == [(1, (2, None))]


def test_branches(write: Writer, read: Reader, tmp_path: Path) -> None:
    rows: list[Row] = [(Adt("Node", (Adt("Leaf", ()), 7, Adt("Named", ("x",)))),)]
    write("t:Tree", rows, IO="jsonfile")
    assert (tmp_path / "r.json").read_text() == '[[{"$Node": [{"$Leaf": []}, 7, {"$Named": ["x"]}]}]]\n'
    assert read("t:Tree", IO="jsonfile") == rows


def test_nullary_and_empty(write: Writer, read: Reader, tmp_path: Path) -> None:
    write("", [()], IO="jsonfile")
    assert (tmp_path / "r.json").read_text() == "[null\n]\n"
    assert read("", IO="jsonfile") == [()]
    write("x:number", [], IO="jsonfile")
    assert (tmp_path / "r.json").read_text() == "[]\n"
    assert read("x:number", IO="jsonfile") == []


def test_json_is_the_standard_streams(write: Writer, read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    text = write("x:number", [(1,), (2,)], IO="json")
    assert text == "[[1],\n[2]]\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert read("x:number", IO="json") == [(1,), (2,)]


def test_floats_have_six_digits_or_as_many_as_they_need(write: Writer) -> None:
    rows: list[Row] = [(0.5,), (0.1,), (1 / 3,), (float("inf"),)]
    assert write("x:float", rows, IO="json") == '[[0.1],\n[0.3333333333333333],\n[0.5],\n["inf"]]\n'
    assert write("x:float", [(0.10000000149011612,)], IO="json", word_size=32) == "[[0.1]]\n"


@pytest.mark.parametrize(
    ("data", "code", "place", "message"),
    [
        (b"{}", "E708", "1:1", "this is not JSON: an array of rows must begin here"),
        (b"[[1, 2],\n[3, 4]", "E708", "2:7", "this is not JSON: expected `,` or `]`"),
        (b"[[1, 2],\n[3 4]]", "E708", "2:4", "this is not JSON: Expecting ',' delimiter"),
        (b"[[1, 2],\n [3]]", "E703", "2:2", "values are missing: this row has 1, the relation 2"),
        (b'[[1, "a"]]', "E703", "1:2", "column `y`: `a` is not a value of type `number`"),
        (b"[[1, true]]", "E703", "1:2", "column `y`: `True` is not a value of type `number`"),
        (b"[[1, 1.5]]", "E703", "1:2", "column `y`: `1.5` is not a value of type `number`"),
        (b'[{"x": 1, "z": 2}]', "E703", "1:2", "`r` has no column `z`"),
        (b'[{"x": 1}]', "E703", "1:2", "column `y` is missing"),
        (b"[7]", "E703", "1:2", "a row must be a list or an object"),
        (
            b"[[1, 2],\n[3, " + b"4" * 5000 + b"]]",
            "E708",
            "2:1",
            "this is not JSON: a number of this row has too many digits",
        ),
        (b"[" * 100_000, "E708", "1:1", "this row nests deeper than JSON can be read here"),
    ],
)
def test_problems(data: bytes, code: str, place: str, message: str, read: Reader, report: Report) -> None:
    read("x:number y:number", data, IO="json", filename="r.json")
    [error] = report.errors
    assert (error.code, f"{error.span.line}:{error.span.column}", error.message) == (code, place, message)


def test_out_of_range(read: Reader, report: Report) -> None:
    read("x:number", b"[[4294967296]]", IO="json", filename="r.json", word_size=32)
    assert [error.code for error in report.errors] == ["E704"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.text(), st.floats(allow_nan=False))),
    form=st.sampled_from(["list", "object"]),
)
def test_comes_back(rows: list[Row], form: str, read: Reader, write: Writer) -> None:
    columns = "x:unsigned s:symbol f:float"
    write(columns, rows, IO="jsonfile", format=form)
    assert sorted(read(columns, IO="jsonfile"), key=repr) == sorted(rows, key=repr)


def test_numbers_too_large_for_single_precision(read: Reader, report: Report) -> None:
    assert read("f:float", b"[[1e39], [1.5]]", IO="jsonfile", filename="r.json", word_size=32) == [(1.5,)]
    assert [error.code for error in report.errors] == ["E704"]

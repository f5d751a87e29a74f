"""What a user is told about files that are wrong or missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flintlog.diagnostics import FlintlogError, Report, Unsupported
from flintlog.io import read_facts
from flintlog.source import SourceFile, Span
from flintlog.types import PRIMITIVES, Field, Row

Reader = Callable[..., list[Row]]


def test_an_unreadable_value_is_shown_with_a_caret(read: Reader, report: Report, tmp_path: Path) -> None:
    assert read("x:number y:number", b"1\t2\n3\tfour\n5\t6\n") == [(1, 2), (5, 6)]
    [error] = report.errors
    assert error.render() == (
        "error[E703]: column `y`: `four` is not a value of type `number`\n"
        f"  --> {tmp_path / 'r.facts'}:2:3\n"
        " 2 | 3\tfour\n"
        "   |  \t^^^^"
    )


@pytest.mark.parametrize(
    ("columns", "data", "params", "code", "place", "message"),
    [
        ("x:number y:number", b"1\n", {}, "E702", "1:2",
         "values are missing: this line has 1 value, the relation needs 2"),
        ("x:number", b"1\n\n2\n", {}, "E703", "2:1", "column `x`: a value of type `number` is missing"),
        ("x:number", b"12 \n", {}, "E703", "1:3", "column `x`: ` ` is left over after a `number`"),
        ("l:List", b"[1, [2]]\n", {}, "E703", "1:7", "column `l`: expected `,`, found `]`"),
        ("x:number", b"h\n-\n", {"headers": "true"}, "E703", "2:1", "column `x`: `-` is not a value of type `number`"),
        ("x:int8", b"300\n", {}, "E704", "1:1",
         "column `x`: 300 is out of range for `int8`: it must lie between -128 and 127"),
        ("s:symbol x:number", b"a],1\n", {"delimiter": ","}, "E706", "1:1",
         "the brackets of this record are not balanced"),
        ("l:List", b"[1, nil\n", {"delimiter": ","}, "E706", "1:1", "the brackets of this record are not balanced"),
    ],
)  # fmt: skip
def test_places(
    columns: str, data: bytes, params: dict[str, str], code: str, place: str, message: str, read: Reader, report: Report
) -> None:
    read(columns, data, **params)
    [error] = report.errors
    assert (error.code, f"{error.span.line}:{error.span.column}", error.message) == (code, place, message)


def test_another_delimiter_is_guessed(read: Reader, report: Report) -> None:
    read("x:number y:number", b"1,2\n")
    [error] = report.errors
    assert error.note == 'values are separated by a tab; did you mean delimiter=","?'


def test_every_problem_of_a_line_is_reported(read: Reader, report: Report) -> None:
    read("x:number y:number", b"a\tb\n")
    assert [error.span.column for error in report.errors] == [1, 3]


def test_ten_problems_a_file_are_enough(read: Reader, report: Report) -> None:
    read("x:number", b"x\n" * 15)
    errors = report.errors
    assert [error.span.line for error in errors] == list(range(1, 12))
    assert errors[-1].code == "E719"
    assert errors[-1].message.startswith("and 5 more problems in `")


_WAY = "give the directory of the facts (-F, or `facts_dir` in Python), or the file with filename=…"


@pytest.mark.parametrize("kind", ["file", "jsonfile", "sqlite", "parquet", "arrow"])
def test_a_missing_file_is_blamed_on_the_directive(kind: str, report: Report, tmp_path: Path) -> None:
    span = Span(SourceFile("p.dl", ".input r"), 0, 8)
    columns = [Field("x", "number")]
    rows = read_facts("r", columns, {"IO": kind}, PRIMITIVES, facts_dir=tmp_path, report=report, span=span)
    assert rows == []
    [error] = report.errors
    assert (error.code, error.span) == ("E701", span)
    assert error.message.startswith(f"cannot open `{tmp_path / 'r.'}")
    assert error.note == _WAY


def test_a_missing_file_with_a_near_miss(read: Reader, report: Report, tmp_path: Path) -> None:
    (tmp_path / "r.fact").touch()
    read("x:number")
    assert report.errors[0].note == f"did you mean `r.fact`? Or {_WAY}"


def test_no_directory_is_asked_for_where_the_path_is_absolute(read: Reader, report: Report, tmp_path: Path) -> None:
    read("x:number", filename=str(tmp_path / "abc"))
    assert report.errors[0].note == "check the path"


def test_a_missing_file_can_be_allowed(read: Reader, report: Report) -> None:
    assert read("x:number", **{"no-warn": "true"}) == []
    assert report.sorted() == []


def test_a_damaged_gzip_file(read: Reader, report: Report) -> None:
    read("x:number", b"\x1f\x8b\x08\x00broken")
    assert [error.code for error in report.errors] == ["E707"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"columns": "0"}, "E652"),
        ({"columns": "0:x"}, "E652"),
        ({"columns": "1:1"}, "E652"),
        ({"columns": "2:1:0"}, "E652"),
        ({"delimiter": ""}, "E653"),
        ({"delimiter": '"', "rfc4180": "true"}, "E653"),
        ({"IO": "fil"}, "E651"),
    ],
)
def test_parameters_that_mean_nothing(params: dict[str, str], code: str, read: Reader, report: Report) -> None:
    assert read("x:number y:number", b"1\t2\n", **params) == []
    assert [error.code for error in report.errors] == [code]
    assert report.errors[0].note


@pytest.mark.parametrize("kind", ["sqlite", "parquet", "arrow"])
def test_relations_without_columns_need_a_text_format(kind: str, read: Reader, report: Report) -> None:
    read("", IO=kind)
    assert [error.code for error in report.errors] == ["E655"]


@pytest.mark.parametrize("kind", ["jdbc", "table"])
def test_what_only_spark_reads(kind: str, read: Reader) -> None:
    with pytest.raises(Unsupported) as caught:
        read("x:number", IO=kind)
    assert [(d.code, d.note) for d in caught.value.diagnostics] == [("E931", "run with --engine spark")]
    assert isinstance(caught.value, FlintlogError)

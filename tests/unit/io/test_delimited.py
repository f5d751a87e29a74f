"""Facts files: what Soufflé reads and writes, byte for byte."""

from __future__ import annotations

import gzip
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


@pytest.mark.parametrize(
    ("columns", "data", "params", "rows"),
    [
        ("x:number y:number", b"1\t2\n-3\t4\n", {}, [(1, 2), (-3, 4)]),
        ("x:number", b"1\n2", {}, [(1,), (2,)]),
        ("x:number", b"", {}, []),
        ("x:number y:symbol", b"1\ta\r\n2\tb\r\n", {}, [(1, "a"), (2, "b")]),
        ("s:symbol", b"a\n\nb\n", {}, [("a",), ("",), ("b",)]),
        ("s:symbol t:symbol", b"\t\n", {}, [("", "")]),
        ("s:symbol", b"a\rb\n", {}, [("a\rb",)]),
        ("s:symbol", b"\xff\xc3\xa9\n", {}, [("\udcffé",)]),
        ("x:number y:number", b"1,2\n", {"delimiter": ","}, [(1, 2)]),
        ("x:number y:number", b"1::2\n3::4\n", {"delimiter": "::"}, [(1, 2), (3, 4)]),
        ("s:symbol t:symbol", b"a:::b\n:::\n", {"delimiter": "::"}, [("a", ":b"), ("", ":")]),
        ("x:number y:symbol", b"x\ty\n1\ta\n", {"headers": "true"}, [(1, "a")]),
        ("x:number y:symbol", b"a\tskip\t1\n", {"columns": "2:0"}, [(1, "a")]),
        ("x:number", b"+1\n 2\n", {}, [(1,), (2,)]),
        ("x:unsigned", b"0x1f\n0b11\n7\n", {}, [(31,), (3,), (7,)]),
        ("x:float", b"1\n1e3\ninf\n", {}, [(1.0,), (1000.0,), (float("inf"),)]),
        ("l:List x:number", b"[1, [2, nil]]\t3\n", {}, [((1, (2, None)), 3)]),
        ("l:List x:number", b"[1, [2, nil]],3\nnil,4\n", {"delimiter": ","}, [((1, (2, None)), 3), (None, 4)]),
        ("t:Tree", b"$Named(a)\n$Leaf\n", {}, [(Adt("Named", ("a",)),), (Adt("Leaf", ()),)]),
        ("", b"()\n", {}, [()]),
        ("", b"\n", {}, [()]),
        ("", b"", {}, []),
    ],
)
def test_reads(
    columns: str, data: bytes, params: dict[str, str], rows: list[Row], read: Reader, report: Report
) -> None:
    assert read(columns, data, **params) == rows
    assert report.sorted() == []


def test_what_stands_behind_the_last_column_is_not_read(read: Reader, report: Report) -> None:
    assert read("x:number", b"1\n2\tmore\n") == [(1,), (2,)]
    [warning] = report.sorted()
    assert (warning.code, str(warning.span).rsplit("/", 1)[1]) == ("W701", "r.facts:2:2")


@pytest.mark.parametrize("data", [b"1\tmore\n2\tmore\n", b"1\tmore\n+2\tmore\n"])
def test_the_fast_and_the_careful_way_both_warn(data: bytes, read: Reader, report: Report) -> None:
    assert read("x:number", data) == [(1,), (2,)]
    assert [warning.code for warning in report.warnings] == ["W701"]


def test_columns_that_were_chosen_need_no_warning(read: Reader, report: Report) -> None:
    assert read("x:number", b"1\tmore\n", columns="0") == [(1,)]
    assert report.sorted() == []


def test_gzip_is_recognised_by_its_content(read: Reader) -> None:
    assert read("x:number", gzip.compress(b"1\n2\n")) == [(1,), (2,)]


def test_stdin(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 \xff\n")))
    assert read("x:number s:symbol", IO="stdin", delimiter=" ") == [(1, "\udcff")]


def test_many_lines_keep_their_numbers(read: Reader, report: Report) -> None:
    lines = [b"%d" % number for number in range(200_000)]
    lines[150_000] = b"oops"
    assert len(read("x:number", b"\n".join(lines))) == 199_999
    [error] = report.errors
    assert error.span.line == 150_001


@pytest.mark.parametrize(
    ("columns", "rows", "params", "data"),
    [
        ("x:number y:symbol", [(2, "b"), (10, ""), (2, "a")], {}, b"2\ta\n2\tb\n10\t\n"),
        ("x:number y:symbol", [(1, "a,b")], {"delimiter": ", "}, b"1, a,b\n"),
        ("x:number y:symbol", [(1, "a")], {"headers": "true", "delimiter": ";"}, b"x;y\n1;a\n"),
        ("x:float y:unsigned", [(0.1, 7)], {}, b"0.10000000000000001\t7\n"),
        ("l:List", [((1, (2, None)),), (None,)], {}, b"nil\n[1, [2, nil]]\n"),
        ("s:symbol", [("\udcff",)], {}, b"\xff\n"),
        ("x:number", [], {}, b""),
        ("", [()], {}, b"()\n"),
        ("", [], {}, b""),
    ],
)
def test_writes(
    columns: str, rows: list[Row], params: dict[str, str], data: bytes, write: Writer, tmp_path: Path
) -> None:
    write(columns, rows, **params)
    assert (tmp_path / "r.csv").read_bytes() == data


def test_singles_are_printed_with_nine_digits(write: Writer, tmp_path: Path) -> None:
    write("x:float", [(0.10000000149011612,)], word_size=32)
    assert (tmp_path / "r.csv").read_bytes() == b"0.100000001\n"


def test_writes_gzip(write: Writer, tmp_path: Path) -> None:
    write("x:number", [(1,)], compress="true", headers="true")
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()) == b"x\n1\n"


SYMBOLS = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), SYMBOLS, st.floats(allow_subnormal=False, allow_nan=False))
    )
)
def test_comes_back(rows: list[Row], read: Reader, write: Writer, report: Report) -> None:
    columns = "x:number s:symbol f:float"
    write(columns, rows)
    assert sorted(read(columns, filename="r.csv"), key=repr) == sorted(rows, key=repr)
    assert not report.has_errors

"""Where rows go, in which order, and that a file is whole or not there."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from flintlog.diagnostics import FlintlogError, Unsupported
from flintlog.io import write_facts
from flintlog.io.column_facts import ColumnFacts
from flintlog.io.formats.delimited_columns import write_delimited_columns
from flintlog.io.schema import Schema
from flintlog.types import PRIMITIVES, Adt, Field, Row, Value

Writer = Callable[..., str]


def test_stdout(write: Writer) -> None:
    text = write("x:number s:symbol", [(2, "b"), (1, "a")], IO="stdout", headers="true", delimiter=",")
    assert text == "---------------\nr\nx,s\n===============\n1,a\n2,b\n===============\n"
    assert write("", [()], IO="stdout") == "---------------\nr\n===============\n()\n===============\n"


def test_stdout_passes_bytes_through() -> None:
    raw = io.BytesIO()
    screen = io.TextIOWrapper(raw, encoding="ascii")
    screen.write("before\n")
    schema = Schema("r", [Field("s", "symbol")], PRIMITIVES, 64)
    write_facts(schema, {"IO": "stdout"}, [("\udcffé",)], output_dir=Path(), stdout=screen)
    screen.write("after\n")
    screen.flush()
    assert raw.getvalue() == (b"before\n---------------\nr\n===============\n\xff\xc3\xa9\n===============\nafter\n")


def test_printsize(write: Writer) -> None:
    assert write("x:number", [(1,), (2,)], IO="stdoutprintsize") == "r\t2\n"
    assert write("x:number", iter([(1,)]), IO="printsize", name="other") == "other\t1\n"


def test_file_names(write: Writer, tmp_path: Path) -> None:
    write("x:number", [(1,)], filename="deep/er/out.tsv")
    write("x:number", [(1,)], name="named")
    write("x:number", [(1,)], filename=str(tmp_path / "absolute"))
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert written == ["absolute", "deep/er/out.tsv", "named.csv"]


def test_order(write: Writer) -> None:
    deep: Value = None
    for number in range(5000):
        deep = (number, deep)
    rows: list[Row] = [
        (math.nan, None, Adt("Leaf", ())),
        (1.0, (2, None), Adt("Leaf", ())),
        (1.0, (1, (0, None)), Adt("Named", ("b",))),
        (1.0, (1, (0, None)), Adt("Named", ("a",))),
        (1.0, (1, None), Adt("Named", ("a",))),
        (-math.inf, deep, Adt("Leaf", ())),
        (-math.inf, deep, Adt("Leaf", ())),
        (1.0, None, Adt("Named", ("a",))),
    ]
    lines = write("f:float l:List t:Tree", rows, IO="stdout").splitlines()[3:-1]
    assert [line.split("\t")[0] for line in lines] == ["-inf"] * 2 + ["1"] * 5 + ["nan"]
    assert [line.split("\t", 1)[1] for line in lines[2:]] == [
        "nil\t$Named(a)",
        "[1, nil]\t$Named(a)",
        "[1, [0, nil]]\t$Named(a)",
        "[1, [0, nil]]\t$Named(b)",
        "[2, nil]\t$Leaf",
        "nil\t$Leaf",
    ]


@pytest.mark.parametrize("kind", ["file", "jsonfile", "sqlite", "parquet"])
def test_a_failure_leaves_no_trace_and_the_old_file(kind: str, write: Writer, tmp_path: Path) -> None:
    def broken() -> Iterator[Row]:
        yield (3,)
        raise RuntimeError("the engine fails")

    write("x:number", [(1,)], IO=kind)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(RuntimeError):
        write("x:number", broken(), IO=kind)
    with pytest.raises((AssertionError, TypeError, FlintlogError, AttributeError, ValueError)):
        write("x:number", [(object(), 5)], IO=kind)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_special_files_are_written_and_stay(write: Writer) -> None:
    write("x:number", [(1,)], filename="/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_link_keeps_pointing(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "r.csv").symlink_to("elsewhere.csv")
    write("x:number", [(1,)])
    assert (tmp_path / "r.csv").is_symlink()
    assert (tmp_path / "elsewhere.csv").read_bytes() == b"1\n"


def test_a_directory_that_cannot_be_made(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    for kind in ("file", "sqlite"):
        with pytest.raises(FlintlogError, match="cannot write"):
            write("x:number", [(1,)], IO=kind, filename="plain/r.csv")


def test_what_cannot_be_written(write: Writer) -> None:
    with pytest.raises(FlintlogError, match="did you mean `stdout`"):
        write("x:number", [], IO="stdou")
    with pytest.raises(FlintlogError, match="E655"):
        write("", [()], IO="parquet")
    with pytest.raises(Unsupported, match="run with --engine spark"):
        write("x:number", [], IO="jdbc")


@pytest.mark.parametrize("delimiter", ["\n", "\r", '"'])
def test_columns_with_a_delimiter_that_arrow_refuses(delimiter: str) -> None:
    schema = Schema("r", (Field("x", "number"), Field("y", "number")), PRIMITIVES, 64)
    stream = io.BytesIO()
    facts = ColumnFacts((np.array([1]), np.array([2])), 1)
    assert not write_delimited_columns(stream, schema, facts, delimiter)
    assert stream.getvalue() == b""

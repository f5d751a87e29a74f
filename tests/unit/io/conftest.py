"""Reading and writing in a directory of the test's own, and a few types to do it with."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from flintlog.diagnostics import Report
from flintlog.io import read_facts, write_facts
from flintlog.io.schema import Schema
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, AdtType, Branch, Field, RecordType, Row, TypeTable

TYPES: TypeTable = {
    **PRIMITIVES,
    **FLOWLOG_TYPES,
    "List": RecordType("List", (Field("head", "number"), Field("tail", "List"))),
    "Pair": RecordType("Pair", (Field("name", "symbol"), Field("weight", "float"))),
    "Unit": RecordType("Unit", ()),
    "Tree": AdtType(
        "Tree",
        (
            Branch("Leaf", ()),
            Branch("Named", (Field("name", "symbol"),)),
            Branch("Node", (Field("left", "Tree"), Field("value", "unsigned"), Field("right", "Tree"))),
        ),
    ),
}

Reader = Callable[..., list[Row]]
Writer = Callable[..., str]


def fields(names_and_types: str) -> list[Field]:
    """`x:number y:symbol`"""
    return [Field(*pair.split(":")) for pair in names_and_types.split()]


@pytest.fixture
def types() -> TypeTable:
    return TYPES


@pytest.fixture
def report() -> Report:
    return Report()


@pytest.fixture
def read(tmp_path: Path, report: Report) -> Reader:
    """read("x:number", b"1\\n", headers="true"): the rows of a file `r.facts`, or of a file that is there already."""

    def run(columns: str, data: bytes | None = None, /, *, word_size: int = 64, **params: str) -> list[Row]:
        if data is not None:
            (tmp_path / params.get("filename", "r.facts")).write_bytes(data)
        return read_facts("r", fields(columns), params, TYPES, facts_dir=tmp_path, word_size=word_size, report=report)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """write("x:number", [(1,)], IO="stdout"): what came out on the screen; files are in `tmp_path`."""

    def run(columns: str, rows: Iterable[Row], /, *, word_size: int = 64, **params: str) -> str:
        stdout = io.StringIO()
        schema = Schema("r", fields(columns), TYPES, word_size)
        write_facts(schema, params, rows, output_dir=tmp_path, stdout=stdout)
        return stdout.getvalue()

    return run

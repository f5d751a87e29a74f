"""Sources with columns of their own: DataFrames in hand, files of other formats, tables and databases."""

from __future__ import annotations

import gc
import json
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data import ingest
from flintlog.engines.spark.data.frames import union_of
from flintlog.engines.spark.data.ingest import known_rows, plain_from_frame, read_source, release, table_behind
from flintlog.engines.spark.data.plain import rows_of
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Adt, AdtType, Branch, Field, RecordType, Row, TypeTable

LIST = RecordType("List", (Field("head", "number"), Field("tail", "List")))
SHAPE = AdtType("Shape", (Branch("Dot", ()), Branch("Named", (Field("name", "symbol"),))))
TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES, "List": LIST, "Shape": SHAPE}


def relation(*columns: str, name: str = "r") -> Relation:
    """Columns as `name: type`."""
    fields = tuple(Field(*column.split(": ")) for column in columns)
    return Relation(name, fields, tuple(TYPES[field.type].kind for field in fields))


EDGE = relation("x: number", "y: symbol")


def rows(frame: Any, found: Relation, size: int = 64) -> list[Row]:
    assert frame.columns == [column.name for column in found.columns]
    return sorted(rows_of(frame.toArrow(), Schema("r", found.columns, TYPES, size)), key=repr)


def read(spark: SparkSession, found: Relation, folder: Path, **options: Any) -> Any:
    bad_records, notify = options.pop("bad_records", "refuse"), options.pop("notify", lambda diagnostic: None)
    directive = IoDirective("input", found.name, tuple(options.items()))
    return read_source(spark, found, directive, TYPES, folder, bad_records=bad_records, notify=notify)


def refused(make: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(FlintlogError) as caught:
        make()
    return caught.value.diagnostics[0]


# --- DataFrames in hand ----------------------------------------------------------------------------


def test_columns_are_found_by_name_else_by_place(spark):
    named = spark.createDataFrame([("a", 1, 0.5)], "y string, x int, more double")
    assert rows(plain_from_frame(EDGE, named, TYPES), EDGE) == [(1, "a")]
    placed = spark.createDataFrame([(1, "a")], "`from.` smallint, `to` string")
    assert rows(plain_from_frame(EDGE, placed, TYPES), EDGE) == [(1, "a")]


def test_numbers_widen(spark):
    found = relation("a: number", "b: unsigned", "c: float", "d: float32")
    values = "cast(1 as decimal(38,0)) as a, 2L as b, cast(3 as decimal(5,0)) as c, cast(0.1 as double) as d"
    frame = spark.sql(f"select {values}")
    assert rows(plain_from_frame(found, frame, TYPES), found) == [(1, 2, 3.0, 0.10000000149011612)]


def test_names_that_differ_in_case_only(spark):
    found = relation("x: number", "X: number")
    frame = spark.createDataFrame([(1, 2)], "a bigint, b bigint")
    assert plain_from_frame(found, frame, TYPES).toArrow().to_pydict() == {"x": [1], "X": [2]}


def test_records_are_text_and_null_is_nil(spark):
    found = relation("l: List", "s: Shape")
    frame = spark.createDataFrame([("[ 1,[2, nil]]", "$Named(a)"), (None, "$Dot")], "l string, s string")
    plain = plain_from_frame(found, frame, TYPES)
    assert rows(plain, found) == sorted([((1, (2, None)), Adt("Named", ("a",))), (None, Adt("Dot", ()))], key=repr)
    assert sorted(row[0] for row in plain.collect()) == ["[1, [2, nil]]", "nil"]


@pytest.mark.parametrize(
    ("ddl", "words"),
    [
        ("x bigint", "missing"),
        ("x bigint, z string", "not declared"),
        ("x string, y string", "cast it to bigint, or declare `x: symbol`"),
        ("x double, y string", "cast it to bigint, or declare `x: float`"),
        ("x bigint, y date", "cast it to string"),
    ],
)
def test_other_columns_are_refused_with_both_sides(spark, ddl, words):
    found = refused(lambda: plain_from_frame(EDGE, spark.createDataFrame([], ddl), TYPES))
    assert found.code == "E908"
    assert words in str(found.note)
    assert "declared" in str(found.note)


def test_a_struct_is_no_record(spark):
    frame = spark.sql("select named_struct('head', 1) as l")
    found = refused(lambda: plain_from_frame(relation("l: List"), frame, TYPES))
    assert "give its text" in str(found.note)


@pytest.mark.parametrize(
    ("column", "ddl", "value", "code"),
    [
        ("number", "bigint", None, "E703"),
        ("int8", "bigint", 200, "E704"),
        ("unsigned", "bigint", -1, "E704"),
        ("number", "decimal(38,0)", 10**30, "E704"),
        ("float32", "double", 1e300, "E704"),
        ("symbol", "string", None, "E703"),
        ("List", "string", "[1", "E703"),
        ("Shape", "string", None, "E703"),
    ],
)
def test_values_that_do_not_fit_are_refused_or_set_aside(spark, tmp_path, column, ddl, value, code):
    given = Decimal(value) if ddl.startswith("decimal") else value
    frame = spark.createDataFrame([(1, given)], f"k bigint, v {ddl}")
    found = relation("k: number", f"v: {column}")
    problem = refused(lambda: plain_from_frame(found, frame, TYPES))
    assert (problem.code, "column `v`" in problem.message) == (code, True)
    warned: list[Diagnostic] = []
    aside = str(tmp_path / "aside")
    plain = plain_from_frame(found, frame, TYPES, bad_records=aside, notify=warned.append)
    assert plain.collect() == []
    assert [d.code for d in warned] == ["W703"]
    [line] = [line for file in (tmp_path / "aside/r").glob("part-*") for line in file.read_text().splitlines()]
    assert line.startswith(f"the DataFrame: {code} column `v`")


def test_words_of_32_bits_hold_less(spark):
    frame = spark.createDataFrame([(2**31,)], "x bigint")
    assert refused(lambda: plain_from_frame(relation("x: number"), frame, TYPES, word_size=32)).code == "E704"
    assert rows(plain_from_frame(relation("x: unsigned"), frame, TYPES, word_size=32), relation("x: unsigned"), 32)


def test_a_frame_that_cannot_be_wrong_needs_no_job(spark):
    frame = spark.range(5)
    plain = plain_from_frame(relation("id: number"), frame, TYPES)
    assert known_rows(plain) is None
    assert plain.count() == 5


# --- Files -----------------------------------------------------------------------------------------


@pytest.fixture(params=[-1, 1 << 20], ids=["by spark", "by the driver"])
def _limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "READ_HERE", request.param)


@pytest.mark.usefixtures("_limit")
def test_parquet_files_and_directories(spark, tmp_path):
    found = relation("x: unsigned", "y: symbol")
    table = pa.table({"y": ["a", "b"], "x": pa.array([1, 2**64 - 1], pa.uint64())})
    pq.write_table(table, tmp_path / "r.parquet")
    expected = [(1, "a"), (2**64 - 1, "b")]
    assert rows(read(spark, found, tmp_path, IO="parquet"), found) == expected
    spark.read.parquet(str(tmp_path / "r.parquet")).write.partitionBy("y").parquet(str(tmp_path / "parts"))
    assert rows(read(spark, found, tmp_path, IO="parquet", filename="parts"), found) == expected


@pytest.mark.usefixtures("_limit")
def test_parquet_with_other_columns_is_refused(spark, tmp_path):
    others: list[dict[str, list[Any]]] = [{"x": [1]}, {"x": [1], "z": ["a"]}, {"x": ["1"], "y": ["a"]}]
    for columns in others:
        pq.write_table(pa.table(columns), tmp_path / "r.parquet")
        assert refused(lambda: read(spark, EDGE, tmp_path, IO="parquet")).code == "E710"
    (tmp_path / "text.parquet").write_text("no")
    broken = refused(lambda: read(spark, EDGE, tmp_path, IO="parquet", filename="text.parquet"))
    assert broken.code in ("E711", "E714")


@pytest.mark.usefixtures("_limit")
def test_lines_of_json(spark, tmp_path):
    found = relation("x: number", "l: List")
    lines = ['{"x": 1, "l": [1, [2, null]]}', "", '[2, {"head": 3, "tail": null}]', '{"l": null, "x": 3}']
    (tmp_path / "r.jsonl").write_text("\n".join(lines))
    expected = [(1, (1, (2, None))), (2, (3, None)), (3, None)]
    assert rows(read(spark, found, tmp_path, IO="jsonl"), found) == sorted(expected, key=repr)
    wrong = ['{"x": 1}', "[1", "[1, null], [2, null]", '{"x": 1.5, "l": null}', "7"]
    for line in wrong:
        (tmp_path / "r.jsonl").write_text(f"{lines[0]}\n{line}\n")
        problem = refused(lambda: read(spark, found, tmp_path, IO="jsonl"))
        assert problem.code in ("E703", "E708"), line
        assert problem.span.line == 2


def test_json_sqlite_and_arrow_are_read_as_elsewhere(spark, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps([[1, "a"], {"x": 2, "y": "b"}]))
    assert rows(read(spark, EDGE, tmp_path, IO="jsonfile"), EDGE) == [(1, "a"), (2, "b")]
    (tmp_path / "many").mkdir()
    for number in range(3):
        (tmp_path / "many" / f"{number}.json").write_text(json.dumps([[number, "a"]]))
    assert len(rows(read(spark, EDGE, tmp_path, IO="json", filename="many"), EDGE)) == 3
    with sqlite3.connect(tmp_path / "r.sqlite") as connection:
        connection.execute("create table r (x, y)")
        connection.execute("insert into r values (1, 'a')")
    connection.close()
    assert rows(read(spark, EDGE, tmp_path, IO="sqlite"), EDGE) == [(1, "a")]
    table = pa.table({"x": [1], "y": ["a"]})
    with pa.ipc.new_file(tmp_path / "r.arrow", table.schema) as writer:
        writer.write_table(table)
    assert rows(read(spark, EDGE, tmp_path, IO="arrow"), EDGE) == [(1, "a")]


def test_whole_files_are_read_in_tasks(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "READ_HERE", -1)
    (tmp_path / "many").mkdir()
    for number in range(3):
        (tmp_path / "many" / f"{number}.json").write_text(f'[\n[{number}, "a"]]')
    assert len(rows(read(spark, EDGE, tmp_path, IO="json", filename="many"), EDGE)) == 3
    (tmp_path / "many" / "1.json").write_text('[\n["x", "a"]]')
    problem = refused(lambda: read(spark, EDGE, tmp_path, IO="json", filename="many"))
    assert (problem.code, problem.span.file.name, problem.span.line) == ("E703", str(tmp_path / "many" / "1.json"), 2)


def test_orc_and_formats_of_spark(spark, tmp_path):
    spark.createDataFrame([(1, "a")], "x int, y string").write.orc(str(tmp_path / "r.orc"))
    assert rows(read(spark, EDGE, tmp_path, IO="orc"), EDGE) == [(1, "a")]
    (tmp_path / "odd.csv").write_text("x;y\n1;a\n")
    options = {"filename": "odd.csv", "format": "csv", "sep": ";", "header": "true", "inferSchema": "true"}
    assert rows(read(spark, EDGE, tmp_path, IO="spark", **options), EDGE) == [(1, "a")]
    assert refused(lambda: read(spark, EDGE, tmp_path, IO="spark")).code == "E654"
    assert refused(lambda: read(spark, EDGE, tmp_path, IO="spark", format="nonsense")).code == "E714"
    assert refused(lambda: read(spark, EDGE, tmp_path, IO="xml")).code == "E651"


def test_catalog_tables(spark, tmp_path):
    spark.createDataFrame([("a", 1, "z")], "y string, x int, z string").createOrReplaceTempView("edges")
    assert rows(read(spark, EDGE, tmp_path, IO="table", table="edges"), EDGE) == [(1, "a")]
    assert rows(read(spark, EDGE, tmp_path, IO="table", table="edges", columns="1:2"), EDGE) == [(1, "z")]
    assert refused(lambda: read(spark, EDGE, tmp_path, IO="table", table="no.such")).code == "E714"
    assert refused(lambda: read(spark, EDGE, tmp_path, IO="table", table="edges", columns="1:7")).code == "E652"
    other = relation("x: symbol", "y: symbol")
    assert refused(lambda: read(spark, other, tmp_path, IO="table", table="edges")).code == "E710"


def test_databases(spark, tmp_path):
    _quiet_derby(spark, tmp_path)
    url = "jdbc:derby:memory:facts;create=true"
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.createDataFrame([(1, "a")], "x int, y string").write.jdbc(url, "edges", properties={"driver": driver})
    found = relation("X: number", "Y: symbol")
    frame = read(spark, found, tmp_path, IO="jdbc", url=url, driver=driver, table="edges")
    assert rows(frame, found) == [(1, "a")]
    query = read(spark, found, tmp_path, IO="jdbc", url=url, driver=driver, query="select * from edges")
    assert rows(query, found) == [(1, "a")]
    assert refused(lambda: read(spark, found, tmp_path, IO="jdbc")).code == "E654"
    missing = refused(lambda: read(spark, found, tmp_path, IO="jdbc", url="jdbc:nothing:x"))
    assert (missing.code, "jar" in str(missing.note)) == ("E714", True)
    assert refused(lambda: read(spark, found, tmp_path, IO="jdbc", url=url, driver=driver, table="no")).code == "E714"


def test_what_is_at_no_address_is_an_error_before_any_job(spark):
    for kind in ["file", "parquet", "jsonl"]:
        directive = IoDirective("input", "r", (("IO", kind),))
        problem = refused(partial(read_source, spark, EDGE, directive, TYPES, "nosuch://bucket/key"))
        assert problem.code == "E714"


def test_several_inputs_add_up_and_are_given_back(spark, tmp_path, monkeypatch):
    for number in range(2):
        (tmp_path / f"{number}.facts").write_text(f"{number}\ta\n")
    here = [read(spark, EDGE, tmp_path, filename=f"{number}.facts") for number in range(2)]
    both = union_of(here)
    table = table_behind(both)
    assert table is not None
    assert (table.num_rows, known_rows(both), rows(both, EDGE)) == (2, 2, [(0, "a"), (1, "a")])
    monkeypatch.setattr(ingest, "READ_HERE", -1)
    there = union_of([here[0], read(spark, EDGE, tmp_path, filename="1.facts")])
    assert (table_behind(there), known_rows(there), rows(there, EDGE)) == (None, 2, [(0, "a"), (1, "a")])
    kept = _kept(spark, both)
    release(there)
    assert _kept(spark, both) == kept - 1
    assert rows(there, EDGE) == [(0, "a"), (1, "a")]
    frame = read(spark, EDGE, tmp_path, filename="1.facts")
    assert _kept(spark, both) == kept
    del frame
    assert _kept(spark, both) == kept - 1


def _kept(spark: SparkSession, frame: Any) -> int:
    """How many things Spark keeps that somebody needs."""
    context: Any = spark.sparkContext
    gc.collect()
    release(frame)  # for which nothing is kept
    return int(context._jsc.getPersistentRDDs().size())


def _quiet_derby(spark: SparkSession, folder: Path) -> None:
    """Derby comes with Spark; its log would appear in the current directory."""
    java: Any = spark.sparkContext._jvm
    java.java.lang.System.setProperty("derby.stream.error.file", str(folder / "derby.log"))

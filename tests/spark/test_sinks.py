"""What Spark writes comes back, and is laid out as everybody lays it out."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data import ingest
from flintlog.engines.spark.data.ingest import plain_from_rows, read_source
from flintlog.engines.spark.data.locations import address_below, is_address
from flintlog.engines.spark.data.plain import rows_of
from flintlog.engines.spark.data.sinks import write_sink
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import NAN, PRIMITIVES, Field, RecordType, Row, TypeTable

PAIR = RecordType("Pair", (Field("name", "symbol"), Field("next", "Pair")))
TYPES: TypeTable = {**PRIMITIVES, "Pair": PAIR}
KINDS = ("number", "unsigned", "float", "symbol", "Pair")
MIXED = Relation("r", tuple(Field(kind[0].lower(), kind) for kind in KINDS), tuple(TYPES[kind].kind for kind in KINDS))
ROWS: list[Row] = [
    (-1, 2**64 - 1, 0.5, "two words", ("a, b", None)),
    (2, 0, 0.25, "", None),
    (3, 7, NAN, '"ä"', ('say "x"', ("y", None))),
]
NUMBERS = Relation("n", (Field("x", "number"),), (TYPES["number"].kind,))
NOTHING = Relation("holds", (), ())


def write(spark: SparkSession, found: Relation, rows: Sequence[Row], folder: Path | str, **params: str) -> bool:
    plain = plain_from_rows(spark, found, rows, TYPES).repartition(2)
    return write_sink(spark, found, plain, IoDirective("output", found.name, tuple(params.items())), folder, TYPES)


def back(spark: SparkSession, found: Relation, folder: Path | str, **params: str) -> list[Row]:
    directive = IoDirective("input", found.name, tuple(params.items()))
    frame = read_source(spark, found, directive, TYPES, folder)
    return sorted(rows_of(frame.toArrow(), Schema(found.name, found.columns, TYPES, 64)), key=repr)


def refused(spark: SparkSession, found: Relation, rows: Sequence[Row], folder: Path | str, **params: str) -> Diagnostic:
    with pytest.raises(FlintlogError) as caught:
        write(spark, found, rows, folder, **params)
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("kind", ["parquet", "orc", "jsonl"])
def test_what_spark_writes_comes_back(spark, tmp_path, kind):
    for _ in range(2):  # the second time over the first
        assert write(spark, MIXED, ROWS, tmp_path, IO=kind)
    assert (tmp_path / f"r.{kind}").is_dir()
    assert repr(back(spark, MIXED, tmp_path, IO=kind)) == repr(sorted(ROWS, key=repr))


@pytest.mark.parametrize("params", [{}, {"IO": "json"}, {"IO": "sqlite"}, {"IO": "arrow"}, {"IO": "stdout"}])
def test_single_files_are_left_to_the_driver(spark, tmp_path, params):
    assert not write(spark, MIXED, ROWS, tmp_path, **params)
    assert not write(spark, MIXED, ROWS, "-", IO="parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> str:
    """An address that is a directory of this machine after all."""
    configuration: Any = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set(f"fs.viewfs.mounttable.{tmp_path.name}.link./data", f"file://{tmp_path}")
    return f"viewfs://{tmp_path.name}/data"


@pytest.mark.parametrize(
    ("params", "suffix"),
    [
        ({}, "csv"),
        ({"headers": "true", "delimiter": "|"}, "csv"),
        ({"compress": "true"}, "csv.gz"),
        ({"rfc4180": "true", "headers": "true"}, "csv"),
        ({"IO": "jsonfile"}, "json"),
        ({"IO": "json", "format": "object"}, "json"),
        ({"IO": "parquet"}, "parquet"),
    ],
)
def test_at_an_address_spark_writes_and_reads_every_format(spark, elsewhere, params, suffix):
    rows: list[Row] = [(*row[:3], str(row[3]).replace('"', "'"), None) for row in ROWS]
    assert write(spark, MIXED, rows, elsewhere, **params)
    assert repr(back(spark, MIXED, elsewhere, filename=f"r.{suffix}", **params)) == repr(sorted(rows, key=repr))


def test_text_at_an_address_is_laid_out_as_elsewhere(spark, elsewhere, tmp_path):
    assert write(spark, MIXED, ROWS[:1], elsewhere, headers="true", compress="true")
    texts = [gzip.decompress(part.read_bytes()).decode() for part in (tmp_path / "r.csv.gz").glob("part-*.gz")]
    line = "-1\t18446744073709551615\t0.5\ttwo words\t[a, b, nil]\n"
    assert "".join(texts) == f"n\tu\tf\ts\tp\n{line}"
    assert write(spark, NOTHING, [()], elsewhere)
    [text] = [part.read_text() for part in (tmp_path / "holds.csv").glob("part-*") if part.stat().st_size]
    assert text == "()\n"
    assert write(spark, MIXED, ROWS, elsewhere, IO="json")
    [part] = [part for part in (tmp_path / "r.json").glob("part-*") if part.stat().st_size]
    assert len(json.loads(part.read_text())) == len(ROWS)


def test_many_lines_in_tasks_at_an_address(spark, elsewhere, monkeypatch):
    monkeypatch.setattr(ingest, "READ_HERE", -1)
    rows: list[Row] = [(number,) for number in range(1000)]
    assert write(spark, NUMBERS, rows, elsewhere, headers="true")
    assert len(back(spark, NUMBERS, elsewhere, filename="n.csv", headers="true")) == 1000
    assert write(spark, NUMBERS, rows, elsewhere, filename=f"{elsewhere}/other.csv")
    assert len(back(spark, NUMBERS, elsewhere, filename="other.csv/part-*")) == 1000


def test_tables_and_databases(spark, tmp_path):
    _quiet_derby(spark, tmp_path)
    params = {"IO": "table", "table": "written", "path": f"file://{tmp_path}/warehouse"}
    try:
        assert write(spark, MIXED, ROWS, tmp_path, **params)
        assert write(spark, MIXED, ROWS[:1], tmp_path, mode="append", **params)
        assert len(back(spark, MIXED, tmp_path, IO="table", table="written")) == 4
        assert refused(spark, NUMBERS, [(1,)], tmp_path, mode="error", **params).code == "E712"
    finally:
        spark.sql("drop table if exists written")
    database = {"IO": "jdbc", "url": "jdbc:derby:memory:out;create=true", "dbtable": "n"}
    database["driver"] = "org.apache.derby.jdbc.EmbeddedDriver"
    assert write(spark, NUMBERS, [(1,), (2,)], tmp_path, **database)
    options = {key: value for key, value in database.items() if key != "dbtable"}
    assert back(spark, NUMBERS, tmp_path, **options, table="n") == [(1,), (2,)]


def test_formats_of_spark(spark, tmp_path):
    assert write(spark, NUMBERS, [(1,)], tmp_path, IO="spark", format="csv", filename="n.out", header="true")
    assert "x\n1\n" in [part.read_text() for part in (tmp_path / "n.out").glob("part-*.csv")]
    assert write(spark, NUMBERS, [(1,)], tmp_path, IO="spark", format="noop")


@pytest.mark.parametrize(
    ("found", "params", "code"),
    [
        (NUMBERS, {"IO": "parqet"}, "E651"),
        (NUMBERS, {"IO": "jdbc"}, "E654"),
        (NUMBERS, {"IO": "spark"}, "E654"),
        (NOTHING, {"IO": "parquet"}, "E655"),
        (NUMBERS, {"IO": "jdbc", "url": "jdbc:nothing:x"}, "E712"),
        (NUMBERS, {"IO": "parquet", "filename": "taken/below"}, "E712"),
        (NUMBERS, {"IO": "sqlite", "filename": "s3a://bucket/x"}, "E712"),
    ],
)
def test_what_cannot_be_written_is_an_error(spark, tmp_path, found, params, code):
    (tmp_path / "taken").write_text("a file")
    assert refused(spark, found, [()] if found is NOTHING else [(1,)], tmp_path, **params).code == code


def test_columns_that_differ_in_case_only_cannot_be_written(spark, tmp_path):
    twins = Relation("r", (Field("x", "number"), Field("X", "number")), NUMBERS.kinds * 2)
    assert refused(spark, twins, [(1, 2)], tmp_path, IO="parquet").code == "E712"


def test_addresses():
    assert all(is_address(place) for place in ("s3a://bucket/key", "hdfs:/data", Path("gs://bucket")))
    assert not any(is_address(place) for place in ("file:/data", "/data", "data/r.csv", "C:/data", Path("a:b")))
    assert address_below(Path("s3a://bucket/key"), "r.csv") == "s3a://bucket/key/r.csv"
    assert address_below("hdfs:/data/", "r.csv") == "hdfs:/data/r.csv"
    assert address_below("hdfs:/data", "s3a://b/r") == "s3a://b/r"


def _quiet_derby(spark: SparkSession, folder: Path) -> None:
    """Derby comes with Spark; its log would appear in the current directory."""
    java: Any = spark.sparkContext._jvm
    java.java.lang.System.setProperty("derby.stream.error.file", str(folder / "derby.log"))

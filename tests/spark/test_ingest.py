"""What Spark reads is what the readers of single files read, rows and mistakes alike."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.spark.data import ingest
from flintlog.engines.spark.data.ingest import known_rows, plain_from_rows, read_source, table_behind
from flintlog.engines.spark.data.plain import rows_of
from flintlog.engines.spark.data.sources.line_tasks import LineJob, read_lines
from flintlog.engines.spark.data.sources.notes import NOTE
from flintlog.io import read_facts
from flintlog.io.parameters import dialect
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Field, RecordType, Row, TypeTable

PAIR = RecordType("Pair", (Field("x", "symbol"), Field("y", "float")))
TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES, "Pair": PAIR}


def relation(*types: str, name: str = "r") -> Relation:
    columns = tuple(Field(f"C{i}", kind) for i, kind in enumerate(types))
    return Relation(name, columns, tuple(TYPES[kind].kind for kind in types))


def schema(found: Relation, size: int = 64) -> Schema:
    return Schema(found.name, found.columns, TYPES, size)


@pytest.fixture
def by_spark(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Iterator[None]:
    """Files are read by tasks, in many small parts, however small they are."""
    monkeypatch.setattr(ingest, "READ_HERE", -1)
    key = "spark.sql.files.maxPartitionBytes"
    before = str(spark.conf.get(key))
    spark.conf.set(key, "16")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    yield
    spark.conf.set(key, before)
    spark.conf.unset("spark.sql.files.openCostInBytes")


def read(spark: SparkSession, found: Relation, folder: Path | str, *said: Diagnostic, **options: Any) -> Any:
    bad_records, notify = options.pop("bad_records", "refuse"), options.pop("notify", lambda diagnostic: None)
    params = tuple((key.replace("_", "-"), value) for key, value in options.items())
    directive = IoDirective("input", found.name, params)
    return read_source(spark, found, directive, TYPES, folder, bad_records=bad_records, notify=notify)


def rows(frame: Any, found: Relation) -> list[Row]:
    assert frame.columns == ([column.name for column in found.columns] or ["c0"])
    return sorted(rows_of(frame.toArrow(), schema(found)), key=repr)


def careful(found: Relation, folder: Path, size: int = 64, **params: str) -> tuple[list[Row], Report]:
    report = Report()
    given_rows = read_facts(found.name, found.columns, params, TYPES, facts_dir=folder, word_size=size, report=report)
    return sorted(given_rows, key=repr), report


def refused(spark: SparkSession, found: Relation, folder: Path | str, **options: Any) -> list[Diagnostic]:
    with pytest.raises(FlintlogError) as caught:
        read(spark, found, folder, **options)
    return list(caught.value.diagnostics)


# --- Lines in tasks --------------------------------------------------------------------------------

_numeral = st.one_of(st.integers(-(1 << 64), 1 << 65).map(str), st.integers(-9, 9).map(str))
# Smaller ones are read in two ways with words of 32 bits.
_floats = st.floats().filter(lambda value: value != value or value == 0 or abs(value) > 1e-37)
_texts = {
    "number": _numeral,
    "unsigned": _numeral,
    "float": st.one_of(_numeral, _floats.map(repr), st.sampled_from(["1.", "1e400", "5e-324", "-nan"])),
    "symbol": st.text(st.sampled_from("ab 1\"'\\,;ä[]\0"), max_size=4),
    "int8": _numeral,
    "float32": st.sampled_from(["0.1", "1e40", "-inf"]),
    "Pair": st.sampled_from(["nil", "[a, 1]", '["a, b",-0.0]', "[a 1]", "[", ""]),
}
_odd = st.sampled_from(["+1", " 1", "1 ", "", "\r", "0x1", "1_0", "--1", "a", "٣", "NULL", "[", "1\udcff"])
_layouts: list[dict[str, str]] = [{}, {"headers": "true"}, {"columns": "2:1:0"}, {"headers": "true", "columns": "1:0"}]


@given(
    st.lists(st.sampled_from(sorted(_texts)), max_size=3),
    st.sampled_from(["\t", ",", "|", ", ", " "]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(_layouts),
    st.integers(1, 4),
    st.sampled_from([32, 64]),
    st.data(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_in_tasks_are_read_as_those_of_files(
    tmp_path: Path,
    kinds: list[str],
    delimiter: str,
    end: str,
    layout: dict[str, str],
    size: int,
    word_size: int,
    data: st.DataObject,
):
    if "columns" in layout and layout["columns"].count(":") + 1 != len(kinds):
        layout = {key: value for key, value in layout.items() if key != "columns"}
    found, params = relation(*kinds), {**layout, "delimiter": delimiter}
    cells = st.tuples(*(st.one_of(_texts[kind], _texts[kind], _odd) for kind in [*kinds, "symbol"]))
    lines = [delimiter.join(row[: data.draw(st.integers(0, 4))]) for row in data.draw(st.lists(cells, max_size=9))]
    text = "".join(line + end for line in lines)
    (tmp_path / "r.facts").write_bytes(text.encode("utf-8", "surrogateescape"))
    expected, report = careful(found, tmp_path, word_size, **params)
    got, notes = _in_tasks(found, params, text, size, word_size)
    assert (repr(sorted(got, key=repr)), bool(notes)) == (repr(expected), report.has_errors)
    if len(report.errors) <= 10:
        assert len(notes) == len({d.span.file.first_line for d in report.errors})


def _in_tasks(
    found: Relation, params: dict[str, str], text: str, size: int, word_size: int
) -> tuple[list[Row], list[str]]:
    """What tasks make of a file whose lines come in small batches, as Spark gives them."""
    job = LineJob(schema(found, word_size), dialect(params, len(found.columns)))
    lines = text.encode("utf-8", "surrogateescape").split(b"\n")[:-1]
    array = pa.array(lines, pa.binary()).view(pa.string())
    columns = [array, pa.array([7] * len(lines), pa.int64()), pa.array([0] * len(lines), pa.int64())]
    batch = pa.record_batch(
        columns if job.skips_headers else columns[:1], names=["a", "b", "c"][: 3 if job.skips_headers else 1]
    )
    out = list(read_lines(job, iter([batch.slice(start, size) for start in range(0, len(lines), size)])))
    if not out:
        return [], []
    table = pa.Table.from_batches(out)
    good = table.filter(pa.compute.is_null(table.column(NOTE)))
    notes = [note for note in table.column(NOTE).to_pylist() if note is not None and note.startswith("E")]
    got = rows_of(good, schema(found, word_size))
    return got[:1] if not found.columns else got, notes


# --- Files -----------------------------------------------------------------------------------------

ODD = b'h1\th2\n1\t\n2\t"quoted\n3\t \xff \r\n-4\t[a\n\n5\tx\ty\n'
GOOD = ODD.replace(b"\n\n", b"\n")


@pytest.mark.usefixtures("by_spark")
@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_odd_lines_and_headers_in_many_parts(spark, tmp_path, ending):
    found = relation("number", "symbol")
    packing: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
    pack = packing[ending]
    (tmp_path / "r.facts").write_bytes(GOOD)
    (tmp_path / f"packed{ending or '.txt'}").write_bytes(pack(GOOD))
    expected, _ = careful(found, tmp_path, headers="true")
    warned: list[Diagnostic] = []
    frame = read(spark, found, tmp_path, filename=f"packed{ending or '.txt'}", headers="true", notify=warned.append)
    assert rows(frame, found) == expected
    assert known_rows(frame) == 5
    assert [(d.code, d.message[-9:]) for d in warned] == [("W701", ": `5\tx\ty`")]


@pytest.mark.usefixtures("by_spark")
def test_a_mistake_is_reported_as_elsewhere_wherever_its_part_begins(spark, tmp_path):
    found = relation("number", "symbol")
    (tmp_path / "r.facts").write_bytes(
        b"1\tthe first line\n" * 5 + b"x\tb\n" + b"2\tc\n" * 7 + b"3\n99999999999999999999\td\n"
    )
    _, report = careful(found, tmp_path)
    assert [d.render() for d in refused(spark, found, tmp_path)] == [d.render() for d in report.errors]
    assert [d.span.line for d in report.errors] == [6, 14, 15]


@pytest.mark.usefixtures("by_spark")
def test_of_many_mistakes_the_first_are_shown_and_all_are_counted(spark, tmp_path):
    (tmp_path / "r.facts").write_text("bad\n" * 25)
    found = refused(spark, relation("number"), tmp_path)
    assert [d.code for d in found] == ["E703"] * 10 + ["E719"]
    assert [d.span.line for d in found] == list(range(1, 12))
    assert "15 more records have problems" in found[-1].message


@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_bad_records_are_set_aside_with_their_reasons(spark, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(ingest, "READ_HERE", limit)
    (tmp_path / "r.facts").write_bytes(b"h\n1\nx\n\n2\n\xff\n")
    warned: list[Diagnostic] = []
    aside = str(tmp_path / "aside")
    frame = read(spark, relation("number"), tmp_path, headers="true", bad_records=aside, notify=warned.append)
    assert rows(frame, relation("number")) == [(1,), (2,)]
    [warning] = warned
    assert (warning.code, warning.message[:20]) == ("W703", "3 records do not fit")
    written = b"".join(file.read_bytes() for file in sorted((tmp_path / "aside" / "r").glob("part-*")))
    lines = sorted(written.splitlines())
    name = str(tmp_path / "r.facts").encode()
    assert lines[0].startswith(name + b":3: E703 column `C0`: `x` is not a value of type `number`\tx")
    assert lines[2].endswith(b"\t\xff")
    assert len(lines) == 3


@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_what_is_odd_is_said_beside_bad_records(spark, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(ingest, "READ_HERE", limit)
    (tmp_path / "r.facts").write_bytes(b"1\n7\t8\nx\n")
    warned: list[Diagnostic] = []
    frame = read(spark, relation("number"), tmp_path, bad_records=str(tmp_path / "aside"), notify=warned.append)
    assert rows(frame, relation("number")) == [(1,), (7,)]
    assert sorted(warning.code for warning in warned) == ["W701", "W703"]


@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_damaged_files_are_refused_whatever_is_said_of_records(spark, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(ingest, "READ_HERE", limit)
    (tmp_path / "r.facts.gz").write_bytes(gzip.compress(b"1\n" * 99)[:-9])
    options = {"filename": "r.facts.gz", "bad_records": str(tmp_path / "aside")}
    [found] = refused(spark, relation("number"), tmp_path, **options)
    assert found.code == ("E714" if limit < 0 else "E707")


@pytest.mark.usefixtures("by_spark")
def test_a_file_that_has_changed_is_read_anew(spark, tmp_path):
    found = relation("number")
    for number in range(2):
        (tmp_path / "r.facts").write_text(f"{number}\n")
        assert rows(read(spark, found, tmp_path), found) == [(number,)]


@pytest.mark.usefixtures("by_spark")
def test_sessions_that_hand_over_wide_strings(spark, tmp_path):
    found, key = relation("symbol", "Pair"), "spark.sql.execution.arrow.useLargeVarTypes"
    (tmp_path / "r.facts").write_text("h\nx\t[a, 1]\n\tnil\n")
    spark.conf.set(key, "true")
    try:
        assert rows(read(spark, found, tmp_path, headers="true"), found) == [("", None), ("x", ("a", 1.0))]
    finally:
        spark.conf.unset(key)


def test_small_files_are_read_without_a_job(spark, tmp_path):
    (tmp_path / "r.facts").write_text("1\ta\n2\tb\n")
    found = relation("number", "symbol")
    frame = read(spark, found, tmp_path)
    table = table_behind(frame)
    assert table is not None
    assert table.num_rows == known_rows(frame) == 2
    assert rows(frame, found) == [(1, "a"), (2, "b")]


@pytest.mark.usefixtures("by_spark")
def test_names_that_mean_something_to_spark(spark, tmp_path):
    found = relation("number")
    for name in ["_hidden", ".hidden", "a b#c%20[x]{y}.facts", "x._COPYING_", "not packed.gz", "c,d.facts"]:
        (tmp_path / name).write_text("7\n")
        assert rows(read(spark, found, tmp_path, filename=name), found) == [(7,)], name
    (tmp_path / "mark.facts").write_bytes(b"\xef\xbb\xbf7\n")
    assert [d.code for d in refused(spark, found, tmp_path, filename="mark.facts")] == ["E703"]


@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_directories_and_patterns(spark, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(ingest, "READ_HERE", limit)
    found, folder = relation("number"), tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        (folder / f"part-{number}").write_text(f"h\n{number}\n")
    (folder / "_SUCCESS").write_text("")
    for filename in ["parts", "parts/part-*", str(tmp_path / "parts" / "part-[0-2]")]:
        assert rows(read(spark, found, tmp_path, filename=filename, headers="true"), found) == [(0,), (1,), (2,)]
    (tmp_path / "empty").mkdir()
    assert rows(read(spark, found, tmp_path, filename="empty"), found) == []


@pytest.mark.parametrize(
    "options", [{}, {"filename": "nothing-*"}, {"IO": "jsonl"}, {"IO": "orc"}, {"IO": "parquet"}, {"delimiter": ""}]
)
def test_what_is_missing_is_an_error_as_elsewhere(spark, tmp_path, options):
    [found] = refused(spark, relation("number"), tmp_path, **options)
    assert found.code == ("E653" if "delimiter" in options else "E701")


def test_a_file_may_be_missing_if_that_is_said(spark, tmp_path):
    assert rows(read(spark, relation("number"), tmp_path, no_warn="true"), relation("number")) == []


@pytest.mark.usefixtures("by_spark")
def test_relations_without_columns(spark, tmp_path):
    found = relation()
    (tmp_path / "r.facts").write_text("\n\n")
    assert set(rows(read(spark, found, tmp_path), found)) == {()}
    (tmp_path / "r.facts").write_text("")
    assert rows(read(spark, found, tmp_path), found) == []


@pytest.mark.usefixtures("by_spark")
def test_quoted_fields_may_span_lines(spark, tmp_path):
    found = relation("symbol", "number")
    (tmp_path / "r.facts").write_text('"a\nb",1\nplain,2\n')
    assert rows(read(spark, found, tmp_path, rfc4180="true"), found) == [("a\nb", 1), ("plain", 2)]
    (tmp_path / "r.facts").write_text('"a\nb",1\n"c,2\n')
    _, report = careful(found, tmp_path, rfc4180="true")
    assert [d.render() for d in refused(spark, found, tmp_path, rfc4180="true")] == [d.render() for d in report.errors]


def test_rows_in_python_become_a_frame(spark):
    found = relation("number", "unsigned", "float", "symbol", "Pair")
    given_rows: list[Row] = [(-1, 2**64 - 1, 0.5, "\udcff", ("a, b", 2.0)), (2, 0, float("inf"), "", None)]
    frame = plain_from_rows(spark, found, given_rows, TYPES)
    assert [kind for _, kind in frame.dtypes] == ["bigint", "decimal(20,0)", "double", "string", "string"]
    assert rows(frame, found) == sorted(given_rows, key=repr)
    many = plain_from_rows(spark, relation("number"), [(i,) for i in range(300_000)], TYPES)
    assert many.rdd.getNumPartitions() <= 4

"""Words that the dictionary gives are those of a machine, and values come back from them."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.lanes import sampled

from flintlog.diagnostics import InternalError
from flintlog.engines.numbered_values import NumberedValues
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.data.dictionaries import dictionary as dictionary_module
from flintlog.engines.spark.data.dictionaries.dictionary import Dictionary
from flintlog.engines.spark.data.ingest import plain_from_rows
from flintlog.engines.spark.data.plain import record_text, texts_of
from flintlog.io.numerals import round_to_single
from flintlog.io.text_values import parse_value
from flintlog.ir.program import Relation
from flintlog.ir.words import Words
from flintlog.types import (
    FLOWLOG_TYPES,
    NAN,
    NEGATIVE_NAN,
    PRIMITIVES,
    Adt,
    AdtType,
    Branch,
    Field,
    Kind,
    RecordType,
    Row,
    TypeTable,
    Value,
)

LIST = RecordType("List", (Field("head", "symbol"), Field("tail", "List")))
POINT = RecordType("Point", (Field("x", "float"), Field("y", "unsigned")))
SHAPE = AdtType("Shape", (Branch("Dot", ()), Branch("At", (Field("p", "Point"), Field("name", "symbol")))))
SINGLE = RecordType("Single", (Field("x", "float32"),))
TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES, "Single": SINGLE, "List": LIST, "Point": POINT, "Shape": SHAPE}
WAYS = ("here", "fetched", "broadcast", "shuffled")


def ways(*in_sample: str) -> pytest.MarkDecorator:
    """Frames that have to be treated in each way; in the fast lane some tests take some of them."""
    return pytest.mark.parametrize("way", [pytest.param(way, marks=sampled(way in in_sample)) for way in WAYS])


def relation(name: str, *types: str) -> Relation:
    columns = tuple(Field(f"C{i}", kind) for i, kind in enumerate(types))
    return Relation(name, columns, tuple(TYPES[kind].kind for kind in types))


def machine(size: int = 64, *constants: str) -> Machine:
    made = Machine(Words(size), {}, lambda message, span: None)
    made.intern(constants)
    return made


@pytest.fixture
def plain(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, way: str) -> Callable[..., Any]:
    """Makes plain frames that the dictionary has to treat in the given way."""
    if way in ("broadcast", "shuffled"):
        monkeypatch.setattr(dictionary_module, "FETCHED", -1)
    if way == "shuffled":
        monkeypatch.setattr(dictionary_module, "BROADCAST", -1)

    def make(found: Relation, rows: Sequence[Row], size: int = 64) -> Any:
        frame = plain_from_rows(spark, found, rows, TYPES, size)
        # Another DataFrame, behind which there is no table.
        return frame if way == "here" else frame.repartition(3)

    return make


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    table = frame.toArrow()
    columns = [texts_of(column) if column.type == "string" else column.to_pylist() for column in table.columns]
    return sorted(zip(*columns, strict=True), key=repr)


NAMES = ["a", "", "nil", "[1, 2]", "$Dot", "ä", "\udcff", "a\nb", "a"]


@ways("here", "shuffled")
def test_symbols_of_all_frames_share_one_dictionary(spark, plain, way):
    constants = ("a", "only in the text")
    left, right = relation("left", "symbol", "number"), relation("right", "symbol", "symbol")
    rows = [(name, i) for i, name in enumerate(NAMES)]
    pairs = list(pairwise(NAMES))
    made = Dictionary(spark, machine(64, *constants))
    words = made.encode({"left": (left, plain(left, rows)), "right": (right, plain(right, pairs))})
    assert words["left"].columns == ["c0", "c1"]
    assert made.size == len({*constants, *NAMES})
    known = made.machine()
    assert [known.value(number, Kind.SYMBOL) for number in range(2)] == list(constants)
    assert rows_of(words["left"]) == sorted([(known.word(n, Kind.SYMBOL), i) for n, i in rows], key=repr)
    assert rows_of(words["right"]) == sorted([tuple(known.word(n, Kind.SYMBOL) for n in p) for p in pairs], key=repr)
    assert made.size == len({*constants, *NAMES})
    assert rows_of(made.decode(left, words["left"])) == sorted(rows, key=repr)
    assert made.decode(right, words["right"]).columns == ["C0", "C1"]


@ways("fetched")
def test_records_and_branches_have_numbers_after_nil(spark, plain, way):
    found = relation("r", "List", "Shape", "Point")
    shape: Value = Adt("At", ((-0.0, 2**64 - 1), 'say "a, b"'))
    rows: list[Row] = [
        (None, Adt("Dot", ()), (1.5, 0)),
        (("x", ("nil", None)), shape, None),
        (("nil", None), shape, (NAN, 7)),
    ]
    made = Dictionary(spark, machine(64, "nil"), TYPES)
    words = made.encode({"r": (found, plain(found, rows))})["r"]
    known = made.machine()
    expected = [tuple(known.word(v, k) for v, k in zip(row, found.kinds, strict=True)) for row in rows]
    assert rows_of(words) == sorted(expected, key=repr)
    assert (known.value(0, Kind.SYMBOL), made.size) == ("nil", 7)
    texts = [("nil" if v is None else record_text(v) for v in row) for row in rows]
    assert rows_of(made.decode(found, words)) == sorted(map(tuple, texts), key=repr)


@ways("broadcast")
@pytest.mark.parametrize("size", [32, 64])
def test_numbers_are_exact(spark, plain, way, size):
    found = relation("r", "number", "unsigned", "float", "symbol")
    half, single = 1 << (size - 1), struct.unpack("f", struct.pack("f", 0.1))[0]
    rows: list[Row] = [
        (-half, 2 * half - 1, single, "a"),
        (half - 1, half, -0.0, "b"),
        (0, half - 1, math.inf, "a"),
        (-1, 0, 2.0**-149, "c"),
    ]
    made = Dictionary(spark, machine(size))
    words = made.encode({"r": (found, plain(found, rows, size))})["r"]
    known = made.machine()
    expected = [tuple(known.word(v, k) for v, k in zip(row, found.kinds, strict=True)) for row in rows]
    assert rows_of(words) == sorted(expected, key=repr)
    assert rows_of(made.decode(found, words)) == sorted(rows, key=repr)


@pytest.mark.parametrize("way", ["shuffled"])
def test_numbers_stay_when_spark_loses_what_it_kept(spark, plain, way):
    found = relation("r", "symbol")
    made = Dictionary(spark, machine())
    words = made.encode({"r": (found, plain(found, [(f"name {i}",) for i in range(100)]))})["r"]
    before = rows_of(words)
    assert before == sorted([(number,) for number in range(100)], key=repr)
    texts = rows_of(made.decode(found, words))
    made.close()
    assert rows_of(words) == before
    assert rows_of(made.decode(found, words)) == texts
    assert sorted(map(str, made.machine().known.values)) == [text for (text,) in texts]


def test_numbers_alone_need_no_job_and_no_worker(spark):
    found, empty = relation("r", "number", "unsigned"), relation("holds")
    frame = plain_from_rows(spark, found, [(1, 2**64 - 1)], TYPES).repartition(1)
    given = {"r": (found, frame), "holds": (empty, plain_from_rows(spark, empty, [()], TYPES))}
    before = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
    words = Dictionary(spark, machine()).encode(given)
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup(None)) == before
    assert rows_of(words["r"]) == [(1, -1)]
    assert rows_of(words["holds"]) == [(0,)]
    assert "Arrow" not in words["r"]._jdf.queryExecution().executedPlan().toString()


@ways("fetched", "shuffled")
def test_values_that_evaluation_made_are_decoded(spark, plain, way):
    found = relation("r", "symbol")
    made = Dictionary(spark, machine(64, "a"), TYPES)
    made.encode({"r": (found, plain(found, [("a",), ("b",)]))})
    assert made.size == 2
    made.add([(3, "d"), (2, "c")])
    assert made.size == 4
    words = plain_from_rows(spark, relation("w", "number"), [(i,) for i in range(4)], TYPES).toDF("c0")
    assert rows_of(made.decode(found, words)) == [("a",), ("b",), ("c",), ("d",)]
    assert [made.machine().value(i, Kind.SYMBOL) for i in range(4)] == ["a", "b", "c", "d"]
    made.machine().word("e", Kind.SYMBOL)
    more = plain_from_rows(spark, relation("w", "number"), [(4,)], TYPES).toDF("c0")
    assert rows_of(made.decode(found, more)) == [("e",)]
    assert made.size == 5


def test_a_number_that_nothing_has_is_an_error(spark):
    made = Dictionary(spark, machine(64, "a"))
    words = plain_from_rows(spark, relation("w", "number"), [(1,)], TYPES).repartition(1).toDF("c0")
    with pytest.raises(Exception, match=r"as\(…\): no symbol has the number 1"):
        made.decode(relation("r", "symbol"), words).collect()


def test_values_numbered_behind_its_back_are_an_error(spark, monkeypatch):
    monkeypatch.setattr(dictionary_module, "FETCHED", -1)
    found, mine = relation("r", "symbol"), machine()
    made = Dictionary(spark, mine)
    made.encode({"r": (found, plain_from_rows(spark, found, [("a",)], TYPES).repartition(1))})
    mine.word("b", Kind.SYMBOL)
    with pytest.raises(InternalError):
        made.machine()


_floats = st.floats(allow_nan=False) | st.sampled_from([NAN, NEGATIVE_NAN, 1.0, 2.0, 0.0, -0.0])
_values = st.recursive(
    st.none() | st.integers(-(2**63), 2**64 - 1) | st.integers(0, 2) | _floats | st.text(),
    lambda parts: st.tuples(parts, parts) | st.builds(Adt, st.sampled_from("AB"), st.tuples(parts)),
)
_nested = st.tuples(_values) | st.builds(Adt, st.sampled_from("AB"), st.tuples(_values))


@given(_nested, _nested)
def test_equal_values_have_equal_texts_and_others_have_not(left: Value, right: Value):
    known = NumberedValues()
    assert (known.number(left) == known.number(right)) == (record_text(left) == record_text(right))
    assert known.number(left) == known.number(left)


@given(st.lists(st.text()), st.floats(), st.integers(0, 2**64 - 1))
def test_the_text_of_a_record_is_read_back(names: list[str], x: float, y: int):
    nested: Value = None
    for name in names:
        nested = (name, nested)
    assert parse_value(record_text(nested), "List", TYPES) == nested
    assert repr(parse_value(record_text((x, y)), "Point", TYPES)) == repr((x, y))
    single = round_to_single(x) if abs(x) < 2.0**127 else 0.0
    assert parse_value(record_text((single,)), "Single", TYPES) == (single,)


def test_a_very_long_list_has_a_text():
    nested: Value = None
    for _ in range(100_000):
        nested = ("x", nested)
    assert record_text(nested).count("[") == 100_000

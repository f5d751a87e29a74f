"""Facts by Arrow are the facts that the careful reader reads, or are left to it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import Report
from flintlog.io import column_facts
from flintlog.io.column_facts import read_columns
from flintlog.io.read import read_facts
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Field, RecordType, Row, TypeTable

TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES, "Pair": RecordType("Pair", (Field("x", "number"),))}


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_facts, "SMALL", 0)


def fast(folder: Path, data: bytes, kinds: Sequence[str], **params: str) -> list[Row] | None:
    (folder / "r.facts").write_bytes(data)
    found = read_columns("r", fields(kinds), params, TYPES, folder)
    assert found is None or len(found) == len(list(found))
    return None if found is None else list(found)


def fields(kinds: Sequence[str]) -> list[Field]:
    return [Field(f"c{i}", kind) for i, kind in enumerate(kinds)]


def careful(folder: Path, kinds: Sequence[str], **params: str) -> tuple[list[Row], bool]:
    """The rows, and whether there was a mistake in the file."""
    report = Report()
    rows = read_facts("r", fields(kinds), params, TYPES, facts_dir=folder, report=report)
    return rows, report.has_errors


_numeral = st.one_of(st.integers(-(1 << 64), 1 << 65).map(str), st.integers(-9, 9).map(str))
_texts = {
    "number": _numeral,
    "unsigned": _numeral,
    "float": st.one_of(
        _numeral, st.floats().map(repr), st.sampled_from(["1.", ".5", "1e400", "5e-324", "-nan", "inf"])
    ),
    "symbol": st.text(st.sampled_from("ab 1\"'\\,;äx\0"), max_size=4),
}
_odd = st.sampled_from(
    ["+1", " 1", "1 ", "1\t", "", "\r", "0x1", "1_0", "\ufeff1", "--1", "1e", "a", "٣", "\v1", "NULL"]
)
_texts |= {"int8": _numeral, "uint32": _numeral, "float32": _texts["float"]}
_kinds = st.lists(st.sampled_from(sorted(_texts)), min_size=1, max_size=3)


_layouts = st.sampled_from([{}, {"headers": "true"}, {"rfc4180": "true"}, {"columns": "2:1:0"}])


@given(_kinds, st.sampled_from(["\t", ",", "|", " "]), st.sampled_from(["\n", "\r\n"]), _layouts, st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_arrow_reads_is_what_the_careful_reader_reads(
    tmp_path: Path, kinds: list[str], delimiter: str, end: str, layout: dict[str, str], data: st.DataObject
):
    plain = st.tuples(*(_texts[kind] for kind in kinds))
    odd = st.tuples(*(st.one_of(_texts[kind], _odd) for kind in kinds))
    rows = data.draw(st.lists(data.draw(st.sampled_from([plain, odd])), max_size=6))
    last = data.draw(st.sampled_from([end, ""])) if rows else ""
    text = end.join(delimiter.join(row) for row in rows) + last
    found = fast(tmp_path, text.encode(), kinds, delimiter=delimiter, **layout)
    if found is not None:
        expected, mistaken = careful(tmp_path, kinds, delimiter=delimiter, **layout)
        assert (repr(found), mistaken) == (repr(expected), False)


@given(st.lists(st.tuples(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, (1 << 64) - 1)), min_size=1))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_numbers_are_read_by_arrow(tmp_path: Path, rows: list[tuple[int, int]]):
    data = "".join(f"{x}\t{y}\n" for x, y in rows).encode()
    assert fast(tmp_path, data, ["number", "unsigned"]) == rows


def test_floats_and_symbols_are_read_by_arrow(tmp_path: Path):
    data = b'1.5\ta "b"\n-0.0\t\n1e300\tNULL\n.5\t a\n7\ta "b"'
    expected = [(1.5, 'a "b"'), (-0.0, ""), (1e300, "NULL"), (0.5, " a"), (7.0, 'a "b"')]
    assert fast(tmp_path, data, ["float", "symbol"]) == expected


@pytest.mark.parametrize(
    ("data", "kinds", "params", "expected"),
    [
        (b"5\r\n6\r\n", ["number"], {}, [(5,), (6,)]),
        (b"\na\n\n", ["symbol"], {}, [("",), ("a",), ("",)]),
        (b"-128\t255\t0.5\n", ["int8", "uint8", "float32"], {}, [(-128, 255, 0.5)]),
        (b"0.1\n", ["float32"], {}, [(0.10000000149011612,)]),
        (b"a x 0x\t1\n", ["symbol", "number"], {}, [("a x 0x", 1)]),
        (b"0x1\t1\n\t2", ["symbol", "number"], {}, [("0x1", 1), ("", 2)]),
        (b"a \t1\tb\t2\n", ["symbol", "number", "symbol", "float"], {}, [("a ", 1, "b", 2.0)]),
        (b"a \t1\n", ["symbol", "symbol"], {}, [("a ", "1")]),
        (b"1\ta \n", ["number", "symbol"], {}, [(1, "a ")]),
        (b"x y\n1\ta\n", ["number", "symbol"], {"headers": "true"}, [(1, "a")]),
        (b"1,[a\n", ["number", "symbol"], {"rfc4180": "true"}, [(1, "[a")]),
        (b"1\tb\t\xff\n2\tc\t\n", ["symbol", "number"], {"columns": "1:0"}, [("b", 1), ("c", 2)]),
        (gzip.compress(b"1\n2\n", mtime=0), ["number"], {"compress": "true"}, [(1,), (2,)]),
    ],
)
def test_layouts_that_arrow_reads(
    tmp_path: Path, data: bytes, kinds: list[str], params: dict[str, str], expected: list[Row]
):
    assert fast(tmp_path, data, kinds, **params) == expected
    assert careful(tmp_path, kinds, **params) == (expected, False)


@pytest.mark.parametrize(
    ("data", "params"),
    [
        (b'"1"\n', {"rfc4180": "true"}),
        (b"x\n", {"headers": "true"}),
        (b"1\t2\t3\n4\t5\n", {"columns": "1:0"}),
        (b"1\n", {"columns": "1:0"}),
        (b"[a,1\n", {"delimiter": ","}),
        (gzip.compress(b"1\t2\n", mtime=0)[:-4], {}),
    ],
)
def test_layouts_that_are_left_to_the_careful_reader(tmp_path: Path, data: bytes, params: dict[str, str]):
    assert fast(tmp_path, data, ["symbol", "symbol"], **params) is None


def test_words_of_32_bits_are_read_as_numbers_and_symbols_only(tmp_path: Path):
    (tmp_path / "r.facts").write_bytes(b"2147483647\t1\n")
    for kinds, expected in [(["number", "symbol"], [(2147483647, "1")]), (["number", "unsigned"], None)]:
        found = read_columns("r", fields(kinds), {}, TYPES, tmp_path, 32)
        assert (None if found is None else list(found)) == expected
    (tmp_path / "r.facts").write_bytes(b"2147483648\n")
    assert read_columns("r", fields(["number"]), {}, TYPES, tmp_path, 32) is None


def test_symbols_of_many_blocks_are_told_apart(tmp_path: Path):
    names = [f"name {i % 997} of {i % 13}" for i in range(150_000)]
    found = fast(tmp_path, "\n".join(names).encode(), ["symbol"])
    assert found == [(name,) for name in names]
    facts = read_columns("r", fields(["symbol"]), {}, TYPES, tmp_path)
    assert facts is not None
    (symbols,) = facts.columns
    assert len(symbols.texts) == len(set(symbols.texts)) == 997 * 13


@pytest.mark.parametrize(
    ("data", "kinds"),
    [
        (b"", ["number"]),
        (b"+5\n", ["number"]),
        (b"5 \n", ["number"]),
        (b"5\t\n", ["number"]),
        (b"1\t5 ", ["number", "number"]),
        (b"5\r\n6\n7\r8\n", ["number"]),
        (b"5\r\n6\r", ["number"]),
        (b"a\rb\n", ["symbol"]),
        (b"1\t2\t3\n", ["number", "number"]),
        (b"1\n", ["number", "number"]),
        (b"1\n\n2\n", ["number"]),
        (b"\n1\n", ["number"]),
        (b"1\ta\n\n", ["number", "symbol"]),
        (b"0x1f\n", ["number"]),
        (b"0x1p3\n", ["float"]),
        (b"\xff\n", ["symbol"]),
        (b"\xef\xbb\xbf1\n", ["number"]),
        (b"\xef\xbb\xbfa\n", ["symbol"]),
        (b"9223372036854775808\n", ["number"]),
        (b"-1\n", ["unsigned"]),
        (b"1e400\n", ["float"]),
        (b"5e-324\n", ["float"]),
        (b"nan\n", ["float"]),
        (b"128\n", ["int8"]),
        (b"a\t-0x1f\n", ["symbol", "number"]),
        (b"1.000000059604644775390625\n", ["float32"]),
        (b"1e39\n", ["float32"]),
        (b"1e-40\n", ["float32"]),
        (b"[1]\n", ["Pair"]),
    ],
)
def test_what_is_left_to_the_careful_reader(tmp_path: Path, data: bytes, kinds: list[str]):
    assert fast(tmp_path, data, kinds) is None


@pytest.mark.parametrize(
    "params",
    [
        {"IO": "json"},
        {"headers": "true"},
        {"columns": "1:0"},
        {"delimiter": "::"},
        {"delimiter": ""},
        {"delimiter": "ä"},
        {"delimiter": "\0"},
        {"delimiter": "\n"},
        {"filename": "none.facts"},
    ],
)
def test_parameters_that_are_left_to_the_careful_reader(tmp_path: Path, params: dict[str, str]):
    assert fast(tmp_path, b"1\n", ["number"], **params) is None


def test_small_files_and_relations_without_columns_are_left_to_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert fast(tmp_path, b"1\n", ["number"]) == [(1,)]
    assert fast(tmp_path, b"1\n", []) is None
    monkeypatch.setattr(column_facts, "SMALL", 30)
    assert fast(tmp_path, b"1\n", ["number"]) is None
    assert fast(tmp_path, gzip.compress(b"1\n", mtime=0), ["number"]) is None
    monkeypatch.setattr(column_facts, "SMALL", 20)
    assert fast(tmp_path, b"1\n", ["number"]) == [(1,)]


@pytest.mark.parametrize("data", [b"a\tb\n\nc\td\n", b"\na\tb\n", b"a\tb\n\n"])
def test_a_line_without_anything_is_no_row_of_empty_symbols(tmp_path: Path, data: bytes):
    assert fast(tmp_path, data, ["symbol", "symbol"]) is None
    assert careful(tmp_path, ["symbol", "symbol"])[1]

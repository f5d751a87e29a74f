"""Tables from other libraries, and results as tables."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flintlog as fl

PROGRAM = fl.Program("""
.type Pair = [a: number, b: symbol]
.type Shape = Dot {} | Line {from: Pair, name: symbol}
.decl edge(x: number, y: number)
.decl mixed(s: symbol, f: float, u: unsigned)
.decl nested(p: Pair, t: Shape)
.decl one(x: number)
.decl yes()
""")


def rows(relation: str, data: Any) -> list[Any]:
    return sorted(PROGRAM.run({relation: data})[relation].rows())


def code(relation: str, data: Any) -> str:
    with pytest.raises(fl.FlintlogError) as caught:
        PROGRAM.run({relation: data})
    [diagnostic] = caught.value.diagnostics
    return diagnostic.code


def test_arrow() -> None:
    table = pa.table({"x": [1, 3], "y": [2, 4]})
    for data in (table, table.to_batches()[0], table.to_reader(), pa.chunked_array([[1, 3]]), pa.array([1, 3])):
        relation = "edge" if hasattr(data, "schema") else "one"
        assert rows(relation, data) == ([(1, 2), (3, 4)] if relation == "edge" else [(1,), (3,)])


def test_columns_go_by_name_and_else_by_position() -> None:
    assert rows("edge", pa.table({"y": [1], "x": [2]})) == [(2, 1)]
    assert rows("edge", pa.table({"a": [1], "b": [2]})) == [(1, 2)]
    assert rows("edge", pa.table({"note": ["n"], "y": [1], "x": [2]})) == [(2, 1)]
    assert rows("edge", {"a": [1], "b": [2]}) == [(1, 2)]
    assert rows("edge", pa.table({"Y": [2], "X": [1]})) == [(1, 2)]  # as Spark has it, capitals are no others
    assert code("edge", pa.table({"X": [1], "z": [2]})) == "E908"
    assert code("edge", pa.table({"x": [1], "z": [2]})) == "E908"
    assert code("edge", pa.table({"a": [1]})) == "E908"
    assert code("edge", {"x": [1], "y": [1, 2]}) == "E908"


def test_missing_values() -> None:
    assert code("edge", pa.table({"x": [1, None], "y": [2, 3]})) == "E904"
    assert rows("nested", pa.table({"p": [None], "t": ["$Dot"]})) == [(None, fl.Adt("Dot", ()))]


def test_numpy() -> None:
    np = pytest.importorskip("numpy")
    assert rows("edge", np.array([[1, 2], [3, 4]])) == [(1, 2), (3, 4)]
    assert rows("edge", [np.array([1, 2])]) == [(1, 2)]
    assert rows("one", np.arange(2)) == [(0,), (1,)]
    [row] = PROGRAM.run(mixed=[(np.str_("a"), np.float32(0.5), np.uint8(3))])["mixed"]
    assert row == ("a", 0.5, 3)
    assert [type(value) for value in row] == [str, float, int]
    assert code("edge", [(np.bool_(True), 2)]) == "E904"


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    assert rows("edge", pd.DataFrame({"y": [1], "x": [2]})) == [(2, 1)]
    assert rows("edge", pd.DataFrame({"a": [1], "b": [2]}, index=[9])) == [(1, 2)]
    assert rows("edge", pd.DataFrame({"x": [], "y": []})) == []
    assert rows("mixed", pd.DataFrame({"s": pd.Categorical(["a"]), "f": [1], "u": [3]})) == [("a", 1.0, 3)]
    assert rows("one", pd.Series([1, 2])) == [(1,), (2,)]
    assert rows("nested", pd.DataFrame({"p": [(1, "x")], "t": [fl.Adt("Dot", ())]})) == [((1, "x"), fl.Adt("Dot", ()))]
    assert code("edge", pd.DataFrame({"x": [1], "y": [None]})) == "E904"
    frame = PROGRAM.run(edge=[(1, 2)])["edge"].to_pandas()
    assert frame.to_dict("list") == {"x": [1], "y": [2]}
    assert rows("edge", frame) == [(1, 2)]


def test_polars() -> None:
    assert rows("edge", pl.DataFrame({"y": [1], "x": [2]})) == [(2, 1)]
    assert rows("edge", pl.LazyFrame({"x": [1], "y": [2]})) == [(1, 2)]
    assert rows("one", pl.Series([1, 2])) == [(1,), (2,)]
    assert rows("nested", pl.DataFrame({"p": [{"a": 1, "b": "x"}], "t": ["$Dot"]})) == [((1, "x"), fl.Adt("Dot", ()))]
    assert code("edge", pl.DataFrame({"x": [1, None], "y": [2, 3]})) == "E904"
    frame = PROGRAM.run(mixed=[("a", 0.5, 2**64 - 1)])["mixed"].to_polars()
    assert frame.to_dict(as_series=False) == {"s": ["a"], "f": [0.5], "u": [2**64 - 1]}
    assert rows("mixed", frame) == [("a", 0.5, 2**64 - 1)]


def test_results_as_arrow_come_back_as_they_were() -> None:
    line = fl.Adt("Line", ((1, 'a, "b"]'), ") c"))
    given: dict[str, Any] = {
        "edge": [(1, -2), (-(2**63), 2**63 - 1)],
        "mixed": [("ü", 0.1, 2**64 - 1), ("", float("inf"), 0)],
        "nested": [((1, "x"), fl.Adt("Dot", ())), (None, line)],
        "yes": [()],
    }
    result = PROGRAM.run(given)
    again = PROGRAM.run({name: result[name].to_arrow() for name in given})
    for name, wanted in given.items():
        assert set(again[name]) == set(wanted)
        assert len(again[name]) == len(wanted)
    assert result["mixed"].to_arrow().schema.types == [pa.string(), pa.float64(), pa.uint64()]
    assert result["yes"].to_arrow().num_rows == 1


def test_bytes_that_no_table_can_hold() -> None:
    with pytest.raises(fl.FlintlogError, match="E713"):
        PROGRAM.run(mixed=[("\udcff", 0.0, 0)])["mixed"].to_arrow()


def test_paths_of_tables(tmp_path: Path) -> None:
    table = pa.table({"x": [1], "y": [2]})
    pq.write_table(table, tmp_path / "e.parquet")
    for name in ("e.arrow", "e.feather"):
        with pa.ipc.new_file(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
        assert rows("edge", tmp_path / name) == [(1, 2)]
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(b"1,2\n"))
    assert rows("edge", tmp_path / "e.parquet") == [(1, 2)]
    assert rows("edge", tmp_path / "e.csv.gz") == [(1, 2)]


def test_results() -> None:
    result = PROGRAM.run(edge=[(1, 2), (1, 2), (3, 4)])
    edge = result["edge"]
    assert (edge.name, edge.columns, len(edge)) == ("edge", ("x", "y"), 2)
    assert sorted(edge) == sorted(edge.rows()) == [(1, 2), (3, 4)]
    assert (1, 2) in edge
    assert (1, 5) not in edge
    assert repr(edge) == "<edge(x, y): 2 rows>"
    assert list(result) == ["edge", "mixed", "nested", "one", "yes"]
    with pytest.raises(KeyError, match="did you mean `edge`"):
        result["egde"]

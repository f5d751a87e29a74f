"""Rows from Python: what they may look like, and what is said of wrong ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import flintlog as fl
from flintlog.types import Row, Value

PROGRAM = fl.Program("""
.type List = [head: number, tail: List]
.type Tree = Leaf {} | Named {name: symbol} | Node {left: Tree, list: List}
.decl edge(x: number, y: number)
.decl one(x: symbol)
.decl mixed(s: symbol, f: float, u: unsigned)
.decl small(i: int8, f: float32)
.decl list(l: List)
.decl tree(t: Tree)
.decl yes()
.decl engine(x: number)
.decl same(x: number, y: number) eqrel
.decl total(x: number)
total(x + y) :- edge(x, y).
""")


def rows(relation: str, data: Any) -> list[Row]:
    return PROGRAM.run({relation: data})[relation].rows()


def problems(relation: str, data: Any) -> list[tuple[str, str]]:
    with pytest.raises(fl.FlintlogError) as caught:
        PROGRAM.run({relation: data})
    return [(d.code, d.message) for d in caught.value.diagnostics]


class Edge(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    "data",
    [
        [(1, 2)],
        {(1, 2)},
        ([1, 2],),
        iter([(1, 2)]),
        [Edge(1, 2)],
        [{"y": 2, "x": 1}],
        {"y": [2], "x": [1]},
        [(True + 0, 2)],
    ],
)
def test_forms_of_rows(data: Iterable[Any]) -> None:
    assert rows("edge", data) == [(1, 2)]


def test_one_column_takes_bare_values() -> None:
    assert sorted(rows("one", ["ab", ("c",)])) == [("ab",), ("c",)]
    assert rows("tree", [fl.Adt("Leaf", ())]) == [(fl.Adt("Leaf", ()),)]
    assert rows("list", [None]) == [(None,)]


def test_relations_without_columns() -> None:
    assert rows("yes", [()]) == [()]
    assert rows("yes", []) == []


def test_rows_are_joined_by_rules_and_closed() -> None:
    assert sorted(rows("same", [(1, 2)])) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert sorted(PROGRAM.run(edge=[(1, 2)], total=[(7,)])["total"]) == [(3,), (7,)]


def test_names_that_are_arguments_already() -> None:
    assert PROGRAM.run({"engine": [(1,)]}, engine="naive")["engine"].rows() == [(1,)]


def test_relations_of_components() -> None:
    program = fl.Program(".comp C { .decl a(x: number)  .decl b(x: number)  b(x + 1) :- a(x). }\n.init c = C")
    facts: dict[str, Any] = {"c.a": [(1,)]}
    assert program.run(facts)["c.b"].rows() == [(2,)]
    assert program.run(**facts)["c.b"].rows() == [(2,)]


@pytest.mark.parametrize(
    ("relation", "row", "problem"),
    [
        ("edge", (1,), "has 1 value; the relation has 2 columns"),
        ("edge", (1, 2, 3), "has 3 values; the relation has 2 columns"),
        ("edge", "ab", "has 1 value; the relation has 2 columns"),
        ("edge", {"x": 1}, "has the keys `x`; the relation has the columns `x`, `y`"),
        ("edge", (1, "2"), "has '2', which is not a number"),
        ("edge", (1, None), "has None, which is not a number"),
        ("edge", (1, True), "has True, which is not a number"),
        ("edge", (1, 2.0), "has 2.0, which is not a number"),
        ("edge", (1, 2**63), "has 9223372036854775808, which is out of range for number"),
        ("mixed", ("a", 1.0, -1), "has -1, which is out of range for unsigned"),
        ("mixed", ("a", "1", 1), "has '1', which is not a float"),
        ("mixed", (b"a", 1.0, 1), "has b'a', which is not a symbol"),
        ("mixed", (1, 1.0, 1), "has 1, which is not a symbol"),
        ("small", (128, 0.0), "has 128, which is out of range for int8"),
        ("small", (1, 1e39), "has 1e+39, which is out of range for float32"),
        ("list", ((1,),), "has (1,); a List has 2 fields"),
        ("list", (("a", None),), "has 'a', which is not a number"),
        ("list", (7,), "has 7, which is not a List"),
        ("list", ("[1, 2",), "has '[1, 2', which is not a List: expected `[`, found `2`"),
        ("tree", (("Leaf", ()),), "has ('Leaf', ()), which is not a Tree"),
        ("tree", (fl.Adt("Twig", ()),), "has Adt(branch='Twig', args=()), which is not a Tree"),
        ("tree", (fl.Adt("Named", ()),), "has Adt(branch='Named', args=()), which is not a Tree"),
        ("tree", (fl.Adt("Named", (1,)),), "has 1, which is not a symbol"),
    ],
)
def test_wrong_rows(relation: str, row: Any, problem: str) -> None:
    assert problems(relation, [row]) == [("E904", f"row 0 for `{relation}` {problem}")]


def test_wrong_rows_come_together_but_not_all_of_them() -> None:
    found = problems("edge", [(i, i) if i % 2 else (i,) for i in range(50)])
    assert len(found) == 11
    assert found[0] == ("E904", "row 0 for `edge` has 1 value; the relation has 2 columns")
    assert found[1][1].startswith("row 2 ")
    assert found[-1] == ("E904", "and 15 more rows for `edge` have problems")


def test_wrong_relations_come_together() -> None:
    with pytest.raises(fl.FlintlogError) as caught:
        PROGRAM.run(edge=[(1,)], egde=[(1, 2)], one=5)
    assert [d.code for d in caught.value.diagnostics] == ["E904", "E907", "E909"]
    assert caught.value.diagnostics[2].note == "did you mean `edge`?"


@pytest.mark.parametrize("data", [None, 5, b"1\t2\n", object()])
def test_what_has_no_rows(data: Any) -> None:
    assert [code for code, _ in problems("edge", data)] == ["E907"]


def test_records_and_branches() -> None:
    deep: Value = (1, (2, None))
    node = fl.Adt("Node", (fl.Adt("Named", ("n",)), deep))
    assert rows("list", [((1, (2, None)),)]) == [(deep,)]
    assert rows("list", [([1, [2, None]],)]) == [(deep,)]
    assert rows("list", [({"head": 1, "tail": {"tail": None, "head": 2}},)]) == [(deep,)]
    assert rows("list", [("[1, [2, nil]]",)]) == [(deep,)]
    assert rows("tree", [(node,)]) == [(node,)]
    assert rows("tree", [("$Node($Named(n), [1, [2, nil]])",)]) == [(node,)]


def test_records_may_be_deep() -> None:
    deep: Value = None
    for head in range(20_000):
        deep = (head, deep)
    assert PROGRAM.run(list=[(deep,)])["list"].to_arrow()["l"][0].as_py().startswith("[19999, [19998, ")


def test_floats() -> None:
    big = 10**400
    assert rows("mixed", [("a", 1, 0)]) == [("a", 1.0, 0)]
    assert rows("small", [(0, 0.1)]) == [(0, 0.10000000149011612)]
    assert rows("small", [(0, math.inf)]) == [(0, math.inf)]
    assert len(rows("mixed", [("a", float("nan"), 0), ("a", float("nan"), 0)])) == 1
    assert problems("mixed", [("a", big, 0)])[0][1].endswith("which is out of range for float")


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n")
    (tmp_path / "edge.csv").write_text("3,4\n")
    (tmp_path / "edge.json").write_text("[[5, 6]]")
    assert rows("edge", tmp_path / "edge.facts") == [(1, 2)]
    assert rows("edge", str(tmp_path / "edge.csv")) == [(3, 4)]
    assert rows("edge", tmp_path / "edge.json") == [(5, 6)]
    assert [code for code, _ in problems("edge", tmp_path / "none.facts")] == ["E701"]
    assert [code for code, _ in problems("one", tmp_path)] == ["E701"]


def test_one_row_that_needs_a_closer_look_among_many() -> None:
    """Rows of Python's own values are taken as they are; each of these is not quite one."""

    class Text(str):
        pass

    many = [(i, i + 1) for i in range(100)]
    assert sorted(PROGRAM.run(edge=[*many, [7, 7]])["edge"]) == sorted([*many, (7, 7)])
    assert problems("edge", [*many, (True, 1)]) == [("E904", "row 100 for `edge` has True, which is not a number")]
    assert problems("edge", [*many, (1, 1 << 63)])[0][1].startswith(
        "row 100 for `edge` has 9223372036854775808, which is"
    )
    assert problems("edge", [*many, (1, 2, 3)])[0][1].startswith("row 100 for `edge` has 3 values")
    [[found]] = PROGRAM.run(one=[(Text("a"),)])["one"]
    assert type(found) is str

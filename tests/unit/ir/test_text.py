"""The text form: the golden program, single spellings, and what is said about text that is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from flintlog.diagnostics import FlintlogError
from flintlog.ir import nodes as relation
from flintlog.ir.nodes import Aggregate, FlatMap, Fold, JoinFlatMap, Let, Scan, Unit, Values, Where
from flintlog.ir.scalar import Call, Column, Const, IsBranch, Never, Scalar
from flintlog.ir.text import parse_node, parse_program, print_node, print_program, print_scalar
from flintlog.ir.visit import walk
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Kind, ScalarType

GOLDEN = (Path(__file__).parent / "every_node.ir").read_text()
x, y, z = (Column(name, Kind.NUMBER) for name in "xyz")


def test_golden_text_prints_as_it_was_read() -> None:
    assert print_program(parse_program(GOLDEN)) == GOLDEN


def test_golden_program_has_every_node() -> None:
    program = parse_program(GOLDEN)
    seen = {type(node) for stratum in program.strata for rule in stratum.rules for node in walk(rule.body)}
    assert seen == set(relation.Node.__args__)


def test_nodes_are_built_as_written() -> None:
    node = parse_node(
        """
        join [y] (x, to = z, t)    # a comment
          let t: number = (x + 1)
          where never
          scan e(x: number, y: number)
          scan p(y: number, z: number)
        """
    )
    t = Column("t", Kind.NUMBER)
    plus = Call("+", (x, Const(1, Kind.NUMBER)), Kind.NUMBER)
    assert node == JoinFlatMap(
        Scan("e", (x, y)), Scan("p", (y, z)), ("y",), (Let(t, plus), Where(Never())), (("x", x), ("to", z), ("t", t))
    )


def test_input_and_keys_of_an_aggregate_may_be_one_object() -> None:
    scan = Scan("e", (x,))
    node = Aggregate(scan, ("x",), "n", Fold("count", None, Kind.NUMBER), scan)
    assert parse_node(print_node(node)) == node


@pytest.mark.parametrize(
    ("scalar", "text"),
    [
        (Const(-1, Kind.NUMBER), "-1"),
        (Const(1, Kind.UNSIGNED), "1u"),
        (Const(1.0, Kind.FLOAT), "1.0"),
        (Const(1e300, Kind.FLOAT), "1e+300"),
        (Const(-math.inf, Kind.FLOAT), "-inf"),
        (Const(math.nan, Kind.FLOAT), "nan"),
        (Const('a\n"\\\u2028', Kind.SYMBOL), r'"a\n\"\\\u{2028}"'),
        (Column("nan", Kind.FLOAT), "`nan`"),
        (Column("a`b", Kind.FLOAT), r"`a\`b`"),
        (Column("init", Kind.FLOAT), "init"),
        (Call("-", (x, Const(-1, Kind.NUMBER)), Kind.NUMBER), "(x - -1)"),
        (Call("neg", (x,), Kind.NUMBER), "neg(x)"),
        (Call("round", (x,), Kind.NUMBER), "`round`(x)"),
        (Call("+", (x, y), Kind.FLOAT), "(x + y): float"),
    ],
)
def test_spelling_of_expressions(scalar: Scalar, text: str) -> None:
    assert print_scalar(scalar) == text
    columns = (x, y, Column("nan", Kind.FLOAT), Column("a`b", Kind.FLOAT), Column("init", Kind.FLOAT))
    node = FlatMap(Values(columns, ()), (), (("out", scalar),))
    assert parse_node(print_node(node)) == node


def test_a_column_that_keeps_its_name_may_be_written_in_full() -> None:
    short, full = "map (x)\n  scan e(x: number)", "map (x = x)\n  scan e(x: number)"
    assert parse_node(full) == parse_node(short)
    assert print_node(parse_node(full)) == short


def test_standard_types_are_listed_only_if_some_are_left_out() -> None:
    assert parse_program("").types == {**PRIMITIVES, **FLOWLOG_TYPES}
    own = parse_program("type int8: symbol")
    assert own.types["int8"] == ScalarType("int8", Kind.SYMBOL)
    assert print_program(own) == "type int8: symbol\n"
    assert parse_program("types").types == {}
    assert parse_program("types number, int8").types == {"number": PRIMITIVES["number"], "int8": FLOWLOG_TYPES["int8"]}


def test_an_alias_may_stand_before_its_type() -> None:
    types = parse_program("type A = B\ntype B = [x: A]").types
    assert types["A"] is types["B"]


def test_a_branch_condition_quotes_what_is_no_name() -> None:
    node = FlatMap(Values((Column("t", Kind.ADT),), ()), (Where(IsBranch(Column("t", Kind.ADT), "3")),), ())
    assert print_node(node).splitlines()[1] == "  where (t is $`3`)"
    assert parse_node(print_node(node)) == node


def test_rules_know_their_place_in_the_text() -> None:
    program = parse_program("relation a()\nstratum a\n  rule 1 a\n    unit", "p.ir")
    rule = program.strata[0].rules[0]
    assert (str(rule.span), rule.body) == ("p.ir:3:3", Unit())


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('values (s: symbol)\n  row "a', "E950", "2:7"),
        ("scan e(x; number)", "E951", "1:9"),
        ("concat\n    unit\n  unit", "E952", "3:3"),
        ("scan e(x: int)", "E953", "1:11"),
        ("scan e(x: number", "E953", "1:17"),
        ("map ()\n  where (x = 1)\n  unit", "E954", "2:10"),
        ("map (x)\n  unit", "E954", "1:6"),
        ("map (n = f())\n  unit", "E955", "1:10"),
        ("unit\nunit", "E956", "2:1"),
        ("unit\n  unit", "E956", "2:3"),
        ("semijoin []\n  unit", "E956", "1:1"),
        ("concat", "E956", "1:1"),
        ("aggregate count by [] into n: number\n  unit\n  keys\n    unit\n  keys\n    unit", "E956", "1:1"),
        ("table", "E957", "1:1"),
        ("`unit`", "E957", "1:1"),
        ("values (x: number)\n  row 1, 2", "E958", "2:3"),
        ("unit 1", "E953", "1:6"),
    ],
)
def test_wrong_nodes(text: str, code: str, place: str) -> None:
    with pytest.raises(FlintlogError) as raised:
        parse_node(text, "t.ir")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, str(diagnostic.span)) == (code, f"t.ir:{place}")


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("rule 1 a", "E957", "1:1"),
        ("type A = B", "E959", "1:10"),
        ("types Foo", "E959", "1:7"),
        ("relation a(x: Foo)", "E959", "1:12"),
        ("relation a()\nrelation a()", "E960", "2:1"),
        ("relation a(x: number) choice (y)", "E954", "1:31"),
        ("relation a(x: number) limit x", "E953", "1:29"),
        ("relation a()\n  unit", "E956", "2:3"),
        ("stratum a\n  rule 1 a", "E956", "2:3"),
        ("input a (IO=file)", "E953", "1:13"),
        ("shared 1\n  unit\nshared 1\n  unit", "E960", "3:1"),
    ],
)
def test_wrong_programs(text: str, code: str, place: str) -> None:
    with pytest.raises(FlintlogError) as raised:
        parse_program(text, "t.ir")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, str(diagnostic.span)) == (code, f"t.ir:{place}")

"""Every invariant of the IR, broken once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from flintlog.diagnostics import InternalError
from flintlog.ir.nodes import ConcatAll, Each, FlatMap, Let, Node, Scan, Step, Unit, Values, Where
from flintlog.ir.program import Program, Relation, UserFunction
from flintlog.ir.scalar import Column, Compare, Condition, Const, IsBranch, IsRecord, Part, Scalar
from flintlog.ir.text import parse_program
from flintlog.ir.verify import verify
from flintlog.types import Adt, Kind, Value

BASE = """\
function @plus(float, float): float

relation edge(x: number, y: number)
relation weight(x: number, w: float)
relation path(x: number, y: number)
relation cc(x: number, l: number) merge l = min(old, new) choice (x)
relation news(x: number, y: number, r: number) delta path
relation last(x: number, w: float)

output path

stratum edge, weight

stratum recursive path
  rule 1 path
    join [z] (x, y = (y + 1))
      where (x != y)
      let q: float = @plus(1.0, 2.0): float
      each i: number = range(1, x)
      scan edge(x: number, z: number)
      scan path(z: number, y: number)
  subsume 2 path
    map (x, y, x2 = x, y2 = (y - 1))
      scan path(x: number, y: number)

stratum cc
  rule 3 cc
    concat
      antijoin [x]
        scan edge(x: number, y: number)
        map (x)
          scan weight(x: number, w: float)
      semijoin [x]
        values (x: number, y: number)
          row 1, 2
        shared 1 (x: number)

stratum last
  rule 4 last
    aggregate sum by [x] into s: float of w
      scan weight(x: number, w: float)
      keys
        shared 1 (x: number)
  rule 5 last
    map (x, w)
      join [] (x, w)
        aggregate @plus by [] into w: float of w init 0.0
          scan weight(x: number, w: float)
        shared 1 (x: number)

shared 1
  map (x)
    scan edge(x: number, y: number)
"""


def complaint(program: Program) -> str:
    with pytest.raises(InternalError) as raised:
        verify(program)
    assert raised.value.stage == "verify"
    return str(raised.value)


def test_the_base_program_is_well_formed() -> None:
    verify(parse_program(BASE))


def test_the_golden_program_is_well_formed_but_for_an_unknown_output() -> None:
    golden = parse_program((Path(__file__).parent / "every_node.ir").read_text())
    assert complaint(golden) == "verify: printsize comp.rel: the relation is unknown"
    verify(replace(golden, io=()))


BROKEN_TEXT = [
    # relations and strata
    ("output path", "output nothing", "output nothing: the relation is unknown"),
    ("stratum cc", "stratum cc, nothing", "stratum 2: relation `nothing` is unknown"),
    ("stratum cc", "stratum cc, edge", "stratum 2: relation `edge` has been computed already"),
    ("rule 3 cc", "rule 3 path", "rule 3 of path, it stands in the stratum of cc"),
    ("stratum recursive path", "stratum path", "rule 1 of path, it reads `path`, but the stratum is not recursive"),
    ("row 1, 2\n        shared 1", "row 1, 2\n        scan last(x: number, w: float) #",
     "it reads `last`, which comes in a later stratum"),
    ("shared 1\n  map (x)\n    scan edge(x: number, y: number)",
     "shared 1\n  map (x)\n    scan last(x: number, w: float)",
     "rule 3 of cc, it reads `last`, which comes in a later stratum"),
    ("delta path", "delta nothing", "relation news: it records `nothing`, which is unknown"),
    ("delta path", "delta weight", "its columns are not those of `weight` and the number of a round"),
    ("min(old, new)", "to_float(old)", "relation cc: a number column merges to float"),
    # rule bodies
    ("rule 4 last\n    aggregate sum by [x]", "rule 4 last\n    aggregate sum by []",
     "the columns of the keys are not the group columns"),
    ("relation last(x: number, w: float)", "relation last(x: number, w: symbol)",
     "rule 4 of last, column `s` is float, but in relation `last` it is symbol"),
    ("relation last(x: number, w: float)", "relation last(x: number)",
     "rule 4 of last, 2 columns stand for the 1 of relation `last`"),
    ("y2 = (y - 1)", "y2 = to_string(y)",
     "subsumption 2 of path, column `y2` is symbol, but in two rows of `path` it is number"),
    ("x2 = x, ", "", "subsumption 2 of path, 3 columns stand for the 4 of two rows of `path`"),
    # scans and shared subplans
    ("scan path(z: number, y: number)", "scan paths(z: number, y: number)",
     "rule 1 of path, at `scan paths(z: number, y: number)`: relation `paths` is unknown"),
    ("scan path(z: number, y: number)", "scan path(z: number, y: number, w: number)",
     "3 columns stand for the 2 of relation `path`"),
    ("scan edge(x: number, z: number)", "scan edge(x: number, z: float)",
     "column `z` is float, but in relation `edge` it is number"),
    ("shared 1 (x: number)\n\nstratum", "shared 2 (x: number)\n\nstratum", "shared subplan 2 is unknown"),
    ("shared 1 (x: number)\n\nstratum", "shared 1 (x: float)\n\nstratum",
     "column `x` is float, but in the shared subplan it is number"),
    ("shared 1\n  map (x)\n    scan edge(x: number, y: number)", "shared 1\n  shared 1 (x: number)",
     "the shared subplans [1] point to one another in a circle"),
    ("shared 1\n  map (x)\n    scan edge", "shared 1\n  map (x)\n    scan nowhere",
     "shared 1, at `scan nowhere(x: number, y: number)`: relation `nowhere` is unknown"),
    # columns and expressions
    ("scan weight(x: number, w: float)\n      semijoin", "scan edge(x: number, x: number)\n      semijoin",
     "at `scan edge(x: number, x: number)`: column `x` stands twice"),
    ("y = (y + 1)", "x = (y + 1)", "column `x` stands twice"),
    ("y = (y + 1)", "y = (y + 1): float", "`(y + 1): float` is marked float, but its kind is number"),
    ("(x != y)", '(x != "y")', '`(x != "y")` compares number with symbol'),
    ("(x != y)", "(x match y)", "`(x match y)` compares number as if it were symbol"),
    ("(x != y)", "(x is record)", "`(x is record)` tests a number"),
    ("(x != y)", "(x is $B)", "`(x is $B)` tests a number"),
    ("(x != y)", "(part(x, 0): number != y)", "`part(x, 0): number` takes a part of a number"),
    ("let q: float", "let q: number", "column `q` is number, but its value is float"),
    ("let q: float", "let x: float", "column `x` is there already"),
    ("range(1, x)", "range(1, x, 2, 3)", "a range goes over numbers and has two or three bounds"),
    ("range(1, x)", "range(1, x, 2u)", "column `i` is number, but its value is unsigned"),
    ("@plus(1.0, 2.0)", "@minus(1.0, 2.0)", "function `@minus` is unknown"),
    ("@plus(1.0, 2.0)", "@plus(1.0)", "the call of `@plus` does not have the kinds of its declaration"),
    # joins and unions
    ("join [z]", "join []", "the sides have the columns ['z'] in common"),
    ("join [z]", "join [z, z]", "join column `z` stands twice"),
    ("antijoin [x]", "antijoin [y]", "join column `y` is not on the right side"),
    ("semijoin [x]", "semijoin [q]", "join column `q` is not on the left side"),
    ("map (x)\n          scan weight", "map (x = w)\n          scan weight",
     "join column `x` is number on the left and float on the right"),
    ("values (x: number, y: number)", "values (x: number, z: number)",
     "at `concat`: the inputs have different columns"),
    ("row 1, 2", "row 1, 2.0", "row (1, 2.0) does not have the kinds of the columns"),
    # aggregates
    ("sum by [x] into", "sum by [q] into", "group column `q` is not in the input"),
    ("sum by [x] into s", "sum by [x] into x", "column `x` stands twice"),
    ("sum by [x]", "median by [x]", "`median` is no fold"),
    ("s: float of w", "s: number of w", "the fold is marked number, but folds float"),
    ("s: float of w", "s: float", "the fold has no value"),
    ("s: float of w", "s: float of w init 0.0", "a fold has an initial value if, and only if"),
    ("init 0.0", "init 0", "the fold is marked float, but starts with number"),
    ("init 0.0", "init w", "column `w` is not in scope, which has no columns"),
    ("aggregate @plus", "aggregate @minus", "function `@minus` is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "message"), BROKEN_TEXT, ids=[case[2] for case in BROKEN_TEXT])
def test_broken_text(before: str, after: str, message: str) -> None:
    assert before in BASE
    assert message in complaint(parse_program(BASE.replace(before, after, 1)))


def with_relation(name: str, change: Callable[[Relation], Relation]) -> Program:
    program = parse_program(BASE)
    return replace(program, relations={**program.relations, name: change(program.relations[name])})


BROKEN_RELATIONS: list[tuple[Callable[[Relation], Relation], str]] = [
    (lambda cc: replace(cc, name="dd"), "relation cc: it is called dd"),
    (lambda cc: replace(cc, kinds=cc.kinds[:1]), "it has 2 columns, but 1 kinds"),
    (lambda cc: replace(cc, columns=cc.columns[:1] * 2), "two columns have the same name"),
    (lambda cc: replace(cc, choice=((0, 2),)), "choice domain (0, 2) has positions out of range"),
    (lambda cc: replace(cc, choice=((-1,),)), "choice domain (-1,) has positions out of range"),
    (lambda cc: replace(cc, merge=cc.merge[1:]), "it has 2 columns, but 1 merge expressions"),
    (lambda cc: replace(cc, merge=(None, None)), "it has merge expressions, but no column merges"),
    (
        lambda cc: replace(cc, merge=(None, Column("l", Kind.NUMBER))),
        "column `l` is not in scope, which has `old`, `new`",
    ),
]


@pytest.mark.parametrize(("change", "message"), BROKEN_RELATIONS, ids=[case[1] for case in BROKEN_RELATIONS])
def test_broken_relations(change: Callable[[Relation], Relation], message: str) -> None:
    assert message in complaint(with_relation("cc", change))


def test_a_function_stands_under_its_name() -> None:
    program = replace(parse_program(BASE), functions={"plus": UserFunction("minus", (), Kind.NUMBER)})
    assert complaint(program) == "verify: function plus: it is called minus"


def with_body(body: Node) -> Program:
    program = parse_program(BASE)
    first = replace(program.strata[1].rules[0], body=body)
    strata = (program.strata[0], replace(program.strata[1], rules=(first,)), *program.strata[2:])
    return replace(program, strata=strata)


x, y = Column("x", Kind.NUMBER), Column("y", Kind.NUMBER)
EDGE = Scan("edge", (x, y))


def test_columns_must_be_in_scope() -> None:
    missing = Column("q", Kind.NUMBER)
    message = complaint(with_body(FlatMap(EDGE, (), (("x", x), ("y", missing)))))
    assert message == ("verify: rule 1 of path, at `map (x, y = q)`: column `q` is not in scope, which has `x`, `y`")


def test_columns_come_into_scope_step_by_step() -> None:
    q = Column("q", Kind.NUMBER)
    steps: tuple[Step, ...] = (Where(Compare("=", q, x)), Let(q, x))
    assert "in `where (q = x)`: column `q` is not in scope" in complaint(with_body(FlatMap(EDGE, steps, ())))
    ordered: tuple[Step, ...] = (Let(q, x), Where(Compare("=", q, x)), Each(Column("i", Kind.NUMBER), (x, q)))
    verify(with_body(FlatMap(EDGE, ordered, (("x", x), ("y", Column("i", Kind.NUMBER))))))


def test_columns_have_the_kind_of_their_input() -> None:
    as_float = Column("x", Kind.FLOAT)
    message = complaint(with_body(FlatMap(EDGE, (), (("x", as_float), ("y", y)))))
    assert "column `x` is read as float, but it is number" in message


def test_a_union_has_an_input() -> None:
    assert "at `concat`: it has no inputs" in complaint(with_body(ConcatAll(())))


def test_rows_are_as_wide_as_their_columns() -> None:
    assert "row (1,) has 1 values" in complaint(with_body(Values((x, y), ((1,),))))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (1.0, Kind.NUMBER),
        (True, Kind.NUMBER),
        (-1, Kind.UNSIGNED),
        (1, Kind.FLOAT),
        (1, Kind.SYMBOL),
        ((1, 2), Kind.RECORD),
        (None, Kind.ADT),
        (Adt("B", ()), Kind.ADT),
    ],
)
def test_constants_fit_their_kind(value: Value, kind: Kind) -> None:
    message = complaint(with_body(FlatMap(Unit(), (), (("c", Const(value, kind)),))))
    assert f"{value!r} is no constant of kind {kind.value}" in message


RECORD, TREE = Column("r", Kind.RECORD), Column("t", Kind.ADT)


@pytest.mark.parametrize("condition", [IsRecord(RECORD), IsBranch(TREE, "B"), Compare("=", RECORD, RECORD)])
def test_conditions_on_records_and_branches(condition: Condition) -> None:
    source = Values((RECORD, TREE), ((None, Adt("B", ())), ((1,), Adt("B", (1,)))))
    parts: tuple[Scalar, ...] = (Part(RECORD, 0, Kind.NUMBER), Part(TREE, 0, Kind.NUMBER))
    verify(with_body(FlatMap(source, (Where(condition),), tuple(zip("xy", parts, strict=True)))))


def test_an_unknown_comparison() -> None:
    message = complaint(with_body(FlatMap(EDGE, (Where(Compare("~", x, y)),), ())))
    assert "`~` is no comparison" in message

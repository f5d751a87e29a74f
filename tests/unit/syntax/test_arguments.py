import pytest
from tests.unit.syntax.reading import argument, problems, read

from flintlog.syntax import ast

X, Y, Z = ast.Variable("x"), ast.Variable("y"), ast.Variable("z")
R = ast.Atom("r", (X,))


def number(text):
    return ast.NumberLit(text)


def call(op, *args):
    return ast.Functor(op, args)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y * z", call("+", X, call("*", Y, Z))),
        ("(x + y) * z", call("*", call("+", X, Y), Z)),
        ("x - y - z", call("-", call("-", X, Y), Z)),
        ("x ^ y ^ z", call("^", X, call("^", Y, Z))),
        ("-x ^ 2", call("neg", call("^", X, number("2")))),
        ("-2 ^ 2", call("neg", call("^", number("2"), number("2")))),
        ("2 ^ -3 * x", call("*", call("^", number("2"), number("-3")), X)),
        ("-x * y", call("*", call("neg", X), Y)),
        ("- -5", call("neg", number("-5"))),
        ("-(5)", number("-5")),
        ("1 -1", call("-", number("1"), number("1"))),
        ("bnot x band y bor z", call("bor", call("band", call("bnot", X), Y), Z)),
        ("x lor y lxor z land x", call("lor", X, call("lxor", Y, call("land", Z, X)))),
        ("x bshl y + 1", call("bshl", X, call("+", Y, number("1")))),
        ("x bxor y bshru z", call("bxor", X, call("bshru", Y, Z))),
    ],
)
def test_operators(text, expected):
    assert argument(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_", ast.Unnamed()),
        ("nil", ast.Nil()),
        ("$", ast.Counter()),
        ("autoinc()", ast.Counter()),
        ("__ITERATION__()", ast.Iteration()),
        ("[x, [y, nil]]", ast.RecordInit((X, ast.RecordInit((Y, ast.Nil()))))),
        ("[]", ast.RecordInit(())),
        ("$A(x, y)", ast.BranchInit("A", (X, Y))),
        ("$A", ast.BranchInit("A", ())),
        ("$A()", ast.BranchInit("A", ())),
        ("$comp.A(x)", ast.BranchInit("comp.A", (X,))),
        ("as(x, c.T)", ast.Cast(X, "c.T")),
        ("@f(x)", ast.UserFunctor("f", (X,))),
        ("cat(x, y, z)", call("cat", X, Y, Z)),
        ("itou(x)", call("itou", X)),
        ("itou", ast.Variable("itou")),
        ("min(x, y)", call("min", X, Y)),
        ("max(x, y, z)", call("max", X, Y, Z)),
        ("MIN(x + y)", ast.HeadAggregate("min", call("+", X, Y))),
        ("AVG(x)", ast.HeadAggregate("mean", X)),
        ("x cat y", call("cat", X, Y)),
    ],
)
def test_operands(text, expected):
    assert argument(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count : { r(x) }", ast.Aggregate("count", None, R)),
        ("count : r(x)", ast.Aggregate("count", None, R)),
        ("sum x : { r(x), x < y }", ast.Aggregate("sum", X, ast.Conjunction((R, ast.Constraint("<", X, Y))))),
        ("min(x) : r(x)", ast.Aggregate("min", X, R)),
        ("max (x + y) * z : r(x)", ast.Aggregate("max", call("*", call("+", X, Y), Z), R)),
        ("mean x : r(x) + 1", call("+", ast.Aggregate("mean", X, R), number("1"))),
        ("@@f x : 0, { r(x) }", ast.UserAggregate("f", X, number("0"), R)),
        ("@@f : 0, r(x)", ast.UserAggregate("f", None, number("0"), R)),
        ("count : { r(x) ; r(x) }", ast.Aggregate("count", None, ast.Disjunction((R, R)))),
    ],
)
def test_aggregates(text, expected):
    assert argument(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("count x : r(x)", "E121"),
        ("sum : r(x)", "E121"),
        ("sum x, y : r(x)", "E121"),
        ("sum(x, y)", "E122"),
        ("count : { r(x) ; r(y) }", "E120"),
        ("count : { !(r(x), r(y)) }", "E120"),
        ("@@f : 0, { r(x) ; r(y) }", "E120"),
        ("min(x)", "E101"),
        ("count", "E101"),
        ("f(x)", "E101"),
        ("x < y", "E101"),
        ("x +", "E101"),
        ("as(x)", "E101"),
        ("autoinc(1)", "E101"),
        ("min(x,)", "E101"),
        ("@count(x)", "E109"),
    ],
)
def test_mistakes(text, code):
    assert [found for found, _, _ in problems(f"r({text}).")] == [code]


def test_the_old_counter_is_a_warning():
    assert problems("r($).") == [("W103", 1, 3)]


def test_nesting_beyond_measure_is_an_error_and_no_crash():
    program, report = read("r(" + "(" * 5000 + "x" + ")" * 5000 + ").\ns(1).\n.decl t()")
    assert [d.code for d in report.errors] == ["E127"]
    assert len(program) >= 1

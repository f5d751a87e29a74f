"""What inference finds out: the kind of each argument."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked

from flintlog.check.clauses.traverse import walk
from flintlog.check.typing.literals import literal_value
from flintlog.syntax import ast
from flintlog.types import Kind

DECLS = """
.type Id <: number
.type L = [head: float, tail: L]
.type T = Leaf {} | Node {x: unsigned, l: T}
.functor f(x: float): symbol
.decl n(x: number) .decl u(x: unsigned) .decl f(x: float) .decl s(x: symbol) .decl l(x: L) .decl t(x: T) .decl i(x: Id)
.decl f2(x: float) .decl u2(x: unsigned)
"""


def kinds(rule: str) -> dict[str, Kind]:
    """Kinds in the last clause: variables by name, others by the class of their node and their text."""
    program = checked(DECLS + rule)
    clause = program.clauses[-1]
    found = {}
    for node in walk(clause):
        if id(node) in program.kinds:
            found[node.name if isinstance(node, ast.Variable) else node.span.text] = program.kinds[id(node)]
    return found


def test_every_argument_has_a_kind():
    program = checked(DECLS + "t($Node(x, $Leaf)) :- u(x), l([y, nil]), y < 1, !n(_), x = max z : { u(z), z > x }.")
    arguments = [n for n in walk(program.clauses[-1]) if isinstance(n, ast.Argument)]
    assert all(id(n) in program.kinds for n in arguments)


CASES = [
    ("f(1).", "1", Kind.FLOAT),
    ("u(1).", "1", Kind.UNSIGNED),
    ("f(x) :- x = 1.", "1", Kind.FLOAT),
    ("f(x) :- f(y), x = y + 1.", "1", Kind.FLOAT),
    ("u(x) :- u(y), x = 2 * (y + 1).", "2", Kind.UNSIGNED),
    ("n(1) :- 1 < 2.", "2", Kind.NUMBER),
    ("s(to_string(1)).", "1", Kind.NUMBER),
    ("s(to_string(as(1, float))).", "1", Kind.FLOAT),
    ("s(@f(1)).", "1", Kind.FLOAT),
    ("n(strlen(x)) :- s(x).", "x", Kind.SYMBOL),
    ("n(ord(x)) :- l(x).", "x", Kind.RECORD),
    ("f(x) :- l([x, _]).", "x", Kind.FLOAT),
    ("f(x) :- l([x, _]).", "_", Kind.RECORD),
    ("u(x) :- t($Node(x, y)), t(y).", "y", Kind.ADT),
    ("n(1) :- t(x), !t(x), x = $Leaf.", "x", Kind.ADT),
    ("n(1) :- n(_), !t(_).", "_", Kind.ADT),
    ("n(x) :- x = count : { u(_) }.", "x", Kind.NUMBER),
    ("f2(x) :- x = sum y : { f(y) }.", "y", Kind.FLOAT),
    ("f(x) :- x = sum 1 : { s(_) }.", "1", Kind.FLOAT),
    ("n(x) :- x = sum 1 : { s(_) }.", "1", Kind.NUMBER),
    ("u2(x) :- x = min y * 2 : { u(y) }.", "2", Kind.UNSIGNED),
    ("f2(x) :- x = mean y : { f(y) }.", "x", Kind.FLOAT),
    ('s(min(x, "a")) :- s(x).', 'min(x, "a")', Kind.SYMBOL),
    ("n(x) :- x = range(1, 5).", "5", Kind.NUMBER),
    ("f(x) :- x = range(1, 5, 2).", "2", Kind.FLOAT),
    ("i(x + 1) :- i(x).", "x + 1", Kind.NUMBER),
    ("n(1) :- [x, 1] = [y, z], n(y), f(z), x = 2.", "1", Kind.FLOAT),
]


@pytest.mark.parametrize(("rule", "what", "kind"), CASES)
def test_kind(rule, what, kind):
    assert kinds(rule)[what] is kind


def test_a_shadowed_variable_is_another_one():
    program = checked(DECLS + 'f2(y) :- s(x), y = sum x : { f(x) }, x != "".')
    found = [program.kinds[id(n)] for n in walk(program.clauses[-1]) if isinstance(n, ast.Variable) and n.name == "x"]
    assert sorted(k.value for k in found) == ["float", "float", "symbol", "symbol"]


def test_lattice_operators_have_kinds():
    program = checked(
        ".type I <: number .functor lub(a: I, b: I): I"
        " .lattice I<> { Bottom -> 0, Lub -> @lub(_, _), Glb -> min(_, _) } .decl r(x: number, y: I<>)"
    )
    lattice = program.lattices["I"]
    for operator in (lattice.bottom, lattice.lub, lattice.glb):
        assert operator is not None
        assert {program.kinds[id(n)] for n in walk(operator)} == {Kind.NUMBER}


@pytest.mark.parametrize(
    ("text", "kind", "bits", "value"),
    [
        ("2147483647", Kind.NUMBER, 32, 2147483647),
        ("2147483648", Kind.NUMBER, 32, None),
        ("-2147483648", Kind.NUMBER, 32, -2147483648),
        ("2147483648", Kind.NUMBER, 64, 2147483648),
        ("0x7fffffff", Kind.NUMBER, 32, 0x7FFFFFFF),
        ("0xffffffff", Kind.NUMBER, 32, None),
        ("0xffffffff", Kind.UNSIGNED, 32, 0xFFFFFFFF),
        ("-0b101", Kind.NUMBER, 32, -5),
        ("007", Kind.NUMBER, 32, 7),
        ("-1", Kind.UNSIGNED, 32, None),
        ("4294967296", Kind.UNSIGNED, 32, None),
        ("1.5", Kind.FLOAT, 32, 1.5),
        ("-2", Kind.FLOAT, 32, -2.0),
        ("1e39", Kind.FLOAT, 32, None),
        ("1e39", Kind.FLOAT, 64, 1e39),
        ("1.5", Kind.NUMBER, 32, None),
    ],
)
def test_literal_values(text, kind, bits, value):
    assert literal_value(text, kind, bits) == value

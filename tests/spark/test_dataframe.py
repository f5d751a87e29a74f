"""The strategy `dataframe` has the naive engine's answers, however many parts relations have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.lanes import sampled
from tests.spark.dataframe_runs import Facts, agree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EDGES = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (6, 7), (7, 7)]

SHORTEST = "shortest paths, and longest under a bound"
PROGRAMS: dict[str, tuple[str, Facts]] = {
    "linear closure": (
        """
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .output p
        p(x, y) :- e(x, y).
        p(x, z) :- p(x, y), e(y, z).
        """,
        {"e": EDGES},
    ),
    "closure of itself, and what is not in it": (
        """
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .output p
        .decl n(x: number) .decl apart(x: number, y: number) .output apart
        p(x, y) :- e(x, y).
        p(x, z) :- p(x, y), p(y, z).
        n(x) :- e(x, _). n(y) :- e(_, y).
        apart(x, y) :- n(x), n(y), !p(x, y), x < y.
        """,
        {"e": EDGES},
    ),
    "same generation": (
        """
        .decl par(x: symbol, y: symbol) .input par
        .decl sg(x: symbol, y: symbol) .output sg
        sg(x, y) :- par(x, p), par(y, p), x != y.
        sg(x, y) :- par(x, a), sg(a, b), par(y, b).
        """,
        {"par": [("b", "a"), ("c", "a"), ("d", "b"), ("e", "c"), ("f", "c"), ("g", "d"), ("h", "e")]},
    ),
    "two relations that need each other": (
        """
        .decl e(x: number, y: number) .input e
        .decl even(x: number, y: number) .decl odd(x: number, y: number) .output even, odd
        odd(x, y) :- e(x, y).
        even(x, z) :- odd(x, y), e(y, z).
        odd(x, z) :- even(x, y), e(y, z).
        """,
        {"e": EDGES},
    ),
    "relations without columns": (
        """
        .decl e(x: number, y: number) .input e
        .decl some() .decl none() .decl both() .output some, none, both
        .decl p(x: number) .output p
        some() :- e(_, 7).
        none() :- e(_, 8).
        both() :- some(), !none().
        p(1) :- both().
        p(y) :- p(x), e(x, y), some().
        """,
        {"e": EDGES},
    ),
    "aggregates": (
        """
        .decl e(x: number, y: number) .input e
        .decl u(x: unsigned, f: float, s: symbol) .input u
        .decl n(x: number) .output n
        .decl a(x: number, c: number, s: number, l: number, g: number) .output a
        .decl all(c: number, s: number) .output all
        .decl b(least: unsigned, most: unsigned, total: unsigned) .output b
        .decl f(least: float, most: float, total: float, m: float) .output f
        .decl nothing(x: number) .output nothing
        n(x) :- e(x, _). n(x) :- e(_, x).
        a(x, c, s, l, g) :- n(x), c = count : { e(x, _) }, s = sum y * 3 : { e(x, y) },
            l = min y : { e(x, y) }, g = max y + z : { e(x, y), e(y, z) }.
        all(c, s) :- c = count : { e(_, _) }, s = sum x : { e(x, _), x > 100 }.
        b(l, m, s) :- l = min x : { u(x, _, _) }, m = max x : { u(x, _, _) }, s = sum x : { u(x, _, _) }.
        f(l, m, s, a) :- l = min x : { u(_, x, _) }, m = max x : { u(_, x, _) }, s = sum x : { u(_, x, _) },
            a = mean x : { u(_, x, _) }.
        nothing(x) :- x = min y : { e(y, _), y > 100 }.
        """,
        {"e": EDGES, "u": [(1, 1.5, "b"), (2**64 - 1, -0.25, "a"), (2**63, 1e300, "zz"), (7, 3.0, "ab")]},
    ),
    SHORTEST: (
        """
        .decl e(x: number, y: number, w: number) .input e
        .decl d(x: number, w: number) .output d
        .decl far(x: number, w: number) .output far
        d(1, 0).
        d(y, v + w) :- d(x, v), e(x, y, w).
        d(x, a) <= d(x, b) :- b < a.
        far(1, 0).
        far(y, v + w) :- far(x, v), e(x, y, w), v < 30.
        far(x, a) <= far(x, b) :- a < b.
        """,
        {"e": [(1, 2, 5), (2, 3, 1), (1, 3, 9), (3, 1, 1), (3, 4, 2), (4, 5, 1), (2, 5, 20), (9, 9, 1)]},
    ),
    "words at their ends": (
        """
        .decl x(a: number, b: number) .input x
        .decl u(a: unsigned, b: unsigned) .input u
        .decl r(a: number, b: number, p: number, m: number, t: number, n: number, l: number, g: number) .output r
        .decl s(a: number, b: number, q: number, k: number) .output s
        .decl bits(a: number, b: number, p: number, m: number, t: number, n: number, l: number, g: number) .output bits
        .decl v(a: unsigned, b: unsigned, p: unsigned, m: unsigned, t: unsigned, l: unsigned, g: unsigned) .output v
        .decl less(a: unsigned, b: unsigned) .output less
        .decl logic(a: number, b: number, c: number, d: number, e: number, f: number) .output logic
        r(a, b, a + b, a - b, a * b, -a, min(a, b), max(a, b)) :- x(a, b).
        s(a, b, a / 3, a % 3) :- x(a, b), a >= b.
        bits(a, b, a band b, a bor b, a bxor b, bnot a, a bshl b, a bshr b) :- x(a, b).
        v(a, b, a + b, a - b, a * b, min(a, b), a bshr b) :- u(a, b).
        less(a, b) :- u(a, b), a < b.
        logic(a, b, a land b, a lor b, a lxor b, lnot a) :- x(a, b).
        """,
        {
            "x": [
                (a, b)
                for a in (-(2**63), -(2**32) - 5, -1, 0, 7, 2**32 + 3, 2**63 - 1)
                for b in (-(2**63), -1, 1, 2**31, 2**63 - 1)
            ],
            "u": [(a, b) for a in (0, 1, 2**63 - 1, 2**63, 2**64 - 1) for b in (0, 3, 2**63, 2**64 - 1)],
        },
    ),
    "floats": (
        """
        .decl x(a: float) .input x
        .decl r(a: float, b: float, how: symbol) .output r
        .decl twice(a: float) .output twice
        r(a, b, "<") :- x(a), x(b), a < b.
        r(a, b, ">=") :- x(a), x(b), a >= b.
        r(a, b, "=") :- x(a), x(b), a = b.
        r(a, b, "!=") :- x(a), x(b), a != b.
        twice(a * 2.0) :- x(a).
        """,
        {"x": [(0.0,), (1.5,), (-1.5,), (-1e300,), (float("inf"),), (5e-324,), (float("-inf"),)]},
    ),
    "texts": (
        """
        .decl w(s: symbol) .input w
        .decl r(s: symbol, n: number) .output r
        .decl grown(s: symbol) .output grown
        .decl hit(s: symbol) .output hit
        .decl part(s: symbol) .output part
        r(s, strlen(s)) :- w(s).
        grown(s) :- w(s).
        grown(cat(s, t)) :- grown(s), w(t), strlen(s) < 4.
        hit(s) :- grown(s), match("a.*b", s).
        part(substr(s, 1, 2)) :- grown(s), contains("b", s), s != "ab".
        """,
        {"w": [("a",), ("b",), ("ab",), ("",), ("é",)]},
    ),
    "records and branches": (
        """
        .type List = [head: number, tail: List]
        .type Tree = Leaf { n: number } | Node { left: Tree, right: Tree }
        .decl n(x: number) .input n
        .decl l(x: List, k: number) .output l
        .decl head(x: number) .output head
        .decl t(x: Tree, d: number) .output t
        .decl leaf(x: number) .output leaf
        l(nil, 0).
        l([x, y], k + 1) :- l(y, k), n(x), k < 3.
        head(x) :- l([x, [x, _]], _).
        t($Leaf(x), 0) :- n(x).
        t($Node(a, b), d + 1) :- t(a, d), t(b, d), d < 1.
        leaf(x) :- t($Node($Leaf(x), _), _).
        """,
        {"n": [(1,), (2,)]},
    ),
    "ranges, rounds and limits": (
        """
        .decl n(x: number) .output n
        .decl down(x: number) .output down
        .decl r(x: number, y: unsigned) .output r
        .decl many(x: number) .output many .limitsize many(n = 20)
        n(range(1, 5)). n(x) :- n(y), x = range(y, y * 2), x < 12.
        down(x) :- x = range(3, -2).
        r(x, 0) :- n(x), x < 3.
        r(x + 1, recursive_iteration_cnt()) :- r(x, _), x < 6.
        many(0).
        many(x + 1) :- many(x).
        """,
        {},
    ),
    "shared subplans": (
        """
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .decl q(x: number, y: number) .output p, q
        p(x, z) :- e(x, y), e(y, w), e(w, z).
        p(x, z) :- p(x, v), e(v, y), e(y, w), e(w, z).
        q(x, z) :- e(x, y), e(y, w), e(w, z), x < z.
        q(z, x) :- e(x, y), e(y, w), e(w, z), !p(z, x).
        """,
        {"e": EDGES},
    ),
    "facts of a relation with rules": (
        """
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .input p .output p
        p(9, 9).
        p(x, y) :- p(y, x), e(x, _).
        """,
        {"e": EDGES, "p": [(1, 4), (4, 6), (1, 4)]},
    ),
}


# A program takes seconds. Cases of tests/programs show the other features in the fast lane.
IN_SAMPLE = ("closure of itself, and what is not in it", "aggregates", "records and branches")


@pytest.mark.parametrize("name", [pytest.param(name, marks=sampled(name in IN_SAMPLE)) for name in PROGRAMS])
def test_it_agrees_with_the_naive_engine(spark: SparkSession, name: str) -> None:
    text, facts = PROGRAMS[name]
    answer = agree(spark, text, facts)
    assert any(answer.values())


@pytest.mark.parametrize(
    ("name", "partitions"),
    [
        pytest.param(name, partitions, marks=sampled((name, partitions) in (("same generation", 7), (SHORTEST, 2))))
        for name in ("linear closure", "same generation", "aggregates", SHORTEST)
        for partitions in (2, 7)
    ],
)
def test_the_number_of_parts_does_not_show(spark: SparkSession, name: str, partitions: int) -> None:
    text, facts = PROGRAMS[name]
    agree(spark, text, facts, partitions=partitions)

"""Values that leave what was known of a column while rules run, and indexes that are in use meanwhile: each of these
programs was answered wrongly once."""

import pytest

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import engine as naive_engine
from flintlog.engines.protocol import Evaluation

PROGRAMS = {
    "into another relation": """
        .decl s(x: number, y: number)  .decl r(x: number, y: number)  .decl q(x: number, y: number)
        s(0, 0).
        r(x, y) :- s(x, y).
        r(x + 1, y) :- r(x, y), x < 5000.
        q(y, x) :- r(x, y).
    """,
    "into a set of bits": """
        .decl s(x: number)  .decl r(a: number, b: number, c: number, d: number, e: number, f: number)
        s(0). s(1). s(2). s(3).
        r(a band 3, b band 3, c band 3, d band 3, e band 3, f band 3) :- s(a), s(b), s(c), s(d), s(e), s(f).
    """,
    "in two directions": """
        .decl s(x: number, y: number)  .decl r(x: number, y: number)
        s(x, y) :- x = range(0, 100), y = range(0, 100).
        r(x, y) :- s(x, y).
        r(x + 1, y) :- r(x, y), x < 120.
        r(x, y + 1) :- r(x, y), y < 120.
    """,
    "of an index over wide rows": """
        .decl s(a: number, b: number, i: number)  .decl r(a: number, b: number, i: number)
        .decl w(i: number, k: number)
        s(9223372036854775807, -9223372036854775808, 0). s(-9223372036854775807, 3, 0).
        r(a, b, i) :- s(a, b, i).
        r(a, b, i + 1) :- r(a, b, i), i < 300.
        w(i, j) :- r(a, b, i), r(b2, a2, i), r(a2, b2, j), j = i + a - a2.
    """,
    "between batches": """
        .decl a(x: number)  .decl r(x: number, y: number)
        a(x) :- x = range(0, 60).
        r(x, y) :- a(x), a(y).
        r(x, strlen(to_string(z)) + 1000000) :- r(x, y), r(y, z), y < 200, z < 200.
    """,
    "of an aggregate that every round computes": """
        .decl e(x: number, y: number)  .decl n(x: number, y: number)  .decl p(x: number, c: number)
        n(x, x + 1) :- x = range(0, 20).
        e(x, x * x * x * x * x) :- x = range(0, 21).
        p(0, 0).
        p(x, c) :- p(w, _), n(w, x), c = sum y : { e(x, y) }.
    """,
    "of a smallest value": """
        .decl e(x: number, y: number, d: number)  .decl r(x: number, y: number, d: number)
        e(9223372036854775807, -9223372036854775808, 5).  e(1, -9223372036854775808, 5).
        r(x, y, MIN(d)) :- e(x, y, d).
        r(x, y, MIN(d + 1)) :- r(x, y, d), d < 3.
    """,
    "constants in bodies and heads": """
        .decl e(x: number, y: number)  .decl f(x: number)  .decl p(x: number, y: number)
        e(1, 2). e(2, 1). f(1).
        p(1, 0) :- f(1).
        p(x, 7) :- e(x, 1), f(1).
        p(x, y) :- p(x, 0), e(1, y).
    """,
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_same_rows_as_the_reference_engine(text: str, threads: int) -> None:
    program = Program(text).compilation.program
    expected = naive_engine(1).run(program, Evaluation())
    found = LocalEngine(threads, patience=0).run(program, Evaluation())
    for name, rows in expected.items():
        assert sorted(found[name]) == sorted(rows), name

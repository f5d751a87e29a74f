"""Programs whose answers passes changed once: with all of them and without any, the rows are the same."""

import pytest

from flintlog.api.user_program import Program

PROGRAMS = {
    "zeros of two signs ask for different rows": """
        .decl e(x: number, y: float)  .decl f(x: number, y: number)  .decl p(x: number, y: number)  .decl s(x: number)
        .decl a(x: number)  .decl b(x: number)
        .output a, b
        e(1, 1.0). e(2, -1.0). f(1, 2). f(2, 3). f(3, 4). s(1). s(2).
        p(x, y) :- f(x, y).
        p(x, z) :- p(x, y), f(y, z).
        a(n) :- s(x), e(x, y), y / 0.0 > 1.0, p(x, n).
        b(n) :- s(x), e(x, y), y / (-0.0) > 1.0, p(x, n).
    """,
    "the number of a symbol shows rules that derive nothing": """
        .decl empty(x: symbol)  .decl a(x: symbol)  .decl o(n: number)
        .output o
        a("foo") :- empty(_).
        a("bar").
        o(ord(x)) :- a(x).
    """,
    "the smallest of two zeros is the negative one": """
        .decl e(x: number, y: float)  .decl f(x: number)  .decl a(x: float)
        .output a
        e(1, 0.0). e(2, -0.0). f(2). f(1).
        a(m) :- m = min y : { f(x), e(x, y) }.
    """,
    "a range waits for what keeps it short": """
        .decl e(z: number, x: number)  .decl small(x: number)  .decl g(y: number)  .decl r(x: number, y: number)
        .output r
        e(1, 1000000000000). e(2, 3). small(2). g(1).
        r(x, y) :- small(z), e(z, x), y = range(0, x), g(y).
    """,
}


@pytest.mark.parametrize("engine", ["naive", "local"])
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_passes_change_no_row(text: str, engine: str) -> None:
    program = Program(text)
    plain, optimised = program.run(engine=engine, without=["all"]), program.run(engine=engine)
    for name in plain:
        assert sorted(map(repr, optimised[name].rows())) == sorted(map(repr, plain[name].rows()))

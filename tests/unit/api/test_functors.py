"""Functors in Python: where they are found, what goes in and out, and what is said when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flintlog as fl

APPLY = """
.functor {name}(x: number): number
.decl a(x: number)
a(1). a(2).
.decl r(x: number)
r(@{name}(x)) :- a(x).
"""


@fl.functor
def thrice_for_test(x: int) -> int:
    return 3 * x


def run(function: Callable[..., Any] | int) -> list[Any]:
    functors: Any = {"f": function}
    return sorted(fl.Program(APPLY.format(name="f")).run(functors=functors)["r"])


def error(function: Callable[..., Any] | int) -> fl.Diagnostic:
    with pytest.raises(fl.FlintlogError) as caught:
        run(function)
    return caught.value.diagnostics[0]


def test_registered_functors_and_those_of_one_run() -> None:
    program = fl.Program(APPLY.format(name="thrice_for_test"))
    assert sorted(program.run()["r"]) == [(3,), (6,)]
    assert sorted(program.run(functors={"thrice_for_test": lambda x: -x})["r"]) == [(-2,), (-1,)]
    assert thrice_for_test(2) == 6


def test_functors_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(APPLY.format(name="f"))
    (tmp_path / "functors.py").write_text("def f(x):\n    return x + 10\n")
    program = fl.Program.load(tmp_path / "p.dl")
    assert sorted(program.run()["r"]) == [(11,), (12,)]
    assert sorted(program.run(functors={"f": lambda x: x})["r"]) == [(1,), (2,)]
    (tmp_path / "functors.py").write_text("1 / 0\n")
    with pytest.raises(fl.FlintlogError, match=r"E902.*ZeroDivisionError"):
        program.run()


def test_missing_functors_are_named_unless_nobody_calls_them() -> None:
    with pytest.raises(fl.FlintlogError) as caught:
        fl.Program(APPLY.format(name="nowhere")).run()
    assert [d.code for d in caught.value.diagnostics] == ["E903"]
    assert fl.Program(".functor nowhere(number): number\n.decl a(x: number)\na(1).").run()["a"].rows() == [(1,)]


def test_results_are_checked() -> None:
    assert run(lambda x: 2**63) == [(-(2**63),)]
    assert error(lambda x: "one").message == "the functor `@f` returned 'one', which is not a number"
    assert error(lambda x: x / 2).code == "E801"
    assert error(lambda x: None).code == "E801"
    assert error(lambda x: True).code == "E801"
    assert "ZeroDivisionError" in error(lambda x: x // 0).message
    assert "TypeError" in error(lambda: 1).message
    assert error(5).message == "the functor `@f` is no function but 5"


def test_scalars_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    assert run(np.int64) == [(1,), (2,)]


def test_every_kind_of_value() -> None:
    program = fl.Program("""
    .type List = [head: number, tail: List]
    .type Shape = Dot {} | Line {length: number}
    .functor describe(n: number, u: unsigned, f: float, s: symbol): symbol
    .functor push(l: List, x: number): List stateful
    .functor grow(s: Shape): Shape stateful
    .decl d(s: symbol)
    d(@describe(-1, 2, 0.5, "x")).
    .decl l(l: List)
    l(@push(@push(nil, 1), 2)).
    .decl s(s: Shape)
    s(@grow($Dot())).
    s(@grow($Line(4))).
    """)

    def describe(n: int, u: int, f: float, s: str) -> str:
        return f"{n!r} {u!r} {f!r} {s!r}"

    def push(rest: Any, x: int) -> tuple[Any, ...]:
        return (x, rest)

    def grow(shape: fl.Adt) -> fl.Adt:
        return fl.Adt("Line", (1,)) if shape.branch == "Dot" else fl.Adt("Line", (shape.args[0] * 2,))  # type: ignore[operator]

    result = program.run(functors={"describe": describe, "push": push, "grow": grow})
    assert result["d"].rows() == [("-1 2 0.5 'x'",)]
    assert result["l"].rows() == [((2, (1, None)),)]
    assert sorted(result["s"]) == [(fl.Adt("Line", (1,)),), (fl.Adt("Line", (8,)),)]
    with pytest.raises(fl.FlintlogError, match="E801"):
        program.run(functors={"describe": describe, "push": push, "grow": lambda shape: ("Line", (1,))})

"""remove_unneeded keeps what a result depends on, and nothing else."""

from __future__ import annotations

import pytest

from flintlog.api.user_program import Program
from flintlog.ir.program import Program as Ir
from flintlog.ir.verify import verify
from flintlog.passes.context import PassContext
from flintlog.passes.remove_unneeded import remove_unneeded

WANTED = PassContext(frozenset({"r"}))


def lowered(text: str) -> Ir:
    return Program(text).compilation.program


def test_returns_the_same_object_when_all_is_needed() -> None:
    program = lowered(".decl a(x: number) .input a .decl b(x: number) b(x) :- a(x). .output b")
    assert remove_unneeded(program, PassContext(frozenset({"b"}))) is program


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ("r(x) :- a(x).", {"r", "a"}),
        ("r(x) :- a(x), !b(x).", {"r", "a", "b"}),
        ("r(x) :- x = count : { b(_) }.", {"r", "b"}),
        ("r(x) :- c(x). c(x) :- b(x).", {"r", "b", "c"}),
        ("r(1).", {"r"}),
    ],
)
def test_keeps_what_rules_read(rule: str, kept: set[str]) -> None:
    declarations = "".join(f".decl {name}(x: number) .input {name}\n" for name in "ab")
    program = remove_unneeded(lowered(f"{declarations}.decl c(x: number) .decl r(x: number) {rule} .output r"), WANTED)
    verify(program)
    assert set(program.relations) == kept
    assert {directive.relation for directive in program.io} == kept - {"c"}


def test_rules_over_empty_relations_go_and_what_only_they_read() -> None:
    text = """
        .decl never(x: number) .decl a(x: number) .input a .decl b(x: number) b(x) :- a(x), never(x).
        .decl r(x: number) r(x) :- b(x). r(1). r(n) :- n = count : { never(_) }. .output r"""
    program = remove_unneeded(lowered(text), WANTED)
    verify(program)
    assert set(program.relations) == {"r", "never"}
    assert len([rule for stratum in program.strata for rule in stratum.rules]) == 2

"""The passes as a whole: their names, switching them off, what they leave alone, how long they take."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.machine import slowness
from tests.passes.ir_text import lowered

import flintlog as fl
from flintlog.api.user_program import Program
from flintlog.compiler import optimise_compiled
from flintlog.diagnostics import InternalError
from flintlog.ir.program import IoDirective
from flintlog.ir.program import Program as Ir
from flintlog.passes import sequence
from flintlog.passes.context import PassContext
from flintlog.passes.order_shows import relations_whose_order_shows
from flintlog.passes.sequence import Pass, applied_passes, optimise, pass_names

ROOT = Path(__file__).parents[2]
TEXT = """
    .decl e(x: number, y: number) .input e
    .decl m(x: number, y: number) m(x, y) :- e(y, x).
    .decl r(x: number) .output r
    r(x) :- m(x, y), m(y, 1 + 2).
    r(a) :- m(b, 3), m(a, b).
"""
CONTEXT = PassContext(frozenset({"r"}))


def test_every_pass_has_a_name_of_its_own_and_says_what_it_does() -> None:
    assert len({(step.name, step.summary) for step in sequence.PASSES}) == len(pass_names())
    assert all(step.name == step.apply.__name__ for step in sequence.PASSES)


def test_without_all_nothing_happens() -> None:
    program = lowered(TEXT)
    assert optimise(program, CONTEXT, ["all"]) is program
    assert all(applied.skipped for applied in applied_passes(program, CONTEXT, ["all"]))


@pytest.mark.parametrize("name", pass_names())
def test_without_one_it_alone_is_skipped(name: str) -> None:
    applied = applied_passes(lowered(TEXT), CONTEXT, [name], verified=True)
    assert {a.step.name for a in applied if a.skipped} == {name}


def test_an_unknown_pass_is_the_users_mistake() -> None:
    program = Program(TEXT)
    with pytest.raises(fl.FlintlogError, match=r"E911.*`fusoin`(.|\n)*did you mean `fusion`"):
        program.optimised(["fusoin"])
    with pytest.raises(fl.FlintlogError, match=r"passes: remove_unneeded, .*, all"):
        program.run(e=[], without=["x"])


def test_a_pass_that_breaks_the_program_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(program: Ir, context: PassContext) -> Ir:
        return replace(program, io=(IoDirective("output", "nothing"),))

    monkeypatch.setattr(sequence, "PASSES", (Pass("breaks", "breaks the program", breaks),))
    with pytest.raises(InternalError, match="breaks: verify: "):
        optimise(lowered(TEXT), CONTEXT, verified=True)
    assert optimise(lowered(TEXT), CONTEXT).io[0].relation == "nothing"


def test_what_nobody_needs_is_not_computed_even_with_all_off() -> None:
    endless = ".decl n(x: number) n(0). n(x + 1) :- n(x)."
    assert "n" not in Program(TEXT + endless).optimised(["all"]).relations


def test_every_relation_of_a_python_run_has_its_rows() -> None:
    result = Program(TEXT).run(e=[(1, 2), (3, 1), (3, 3)])
    assert sorted(result["m"]) == [(1, 3), (2, 1), (3, 3)]
    assert sorted(result["r"]) == sorted(Program(TEXT).run(e=[(1, 2), (3, 1), (3, 3)], without=["all"])["r"])


def test_rows_may_be_given_to_any_relation() -> None:
    text = ".decl a(x: number) .decl b(x: number) .decl c(x: number) .output c c(x) :- a(x), !b(x). a(x) :- b(x)."
    assert Program(text).run(a=[(1,), (2,)], b=[(2,)])["c"].rows() == [(1,)]


def test_souffles_names_switch_passes_off() -> None:
    text = '.pragma "disable-transformers" "InlineRelationsTransformer,NoSuchTransformer"' + TEXT
    skipped = {a.step.name for a in optimise_compiled(Program(text).compilation).passes if a.skipped}
    assert skipped == {"inline_relations"}


@pytest.mark.parametrize(
    ("rules", "held"),
    [
        ("r(x) :- e(x, _).", set()),
        ("r(autoinc()) :- e(_, _).", {"e", "r"}),
        ("r(x) :- e(x, _), x < ord(to_string(x)).", {"e", "m", "r"}),
        ('r(x) :- e(x, _), as(x, symbol) != "a".', {"e", "m", "r"}),
        ("r(x) :- e(x, _), as(x, unsigned) > 1.", set()),
        (".decl c(x: number) choice-domain x c(1). r(x) :- c(x).", {"e", "m", "r", "c"}),
        ("r(@f(x)) :- e(x, _). .functor f(x: number): number stateful", {"e", "r"}),
    ],
)
def test_rules_are_held_where_the_order_of_rows_shows(rules: str, held: set[str]) -> None:
    text = TEXT.partition("r(x)")[0] + rules
    assert relations_whose_order_shows(lowered(text)) == held


def rules_of_a_large_program(number: int) -> str:
    """Chains of two to five atoms over inputs and over relations nearby, some with constants and comparisons."""
    lines = [f".decl e{i}(x: number, y: number) .input e{i}" for i in range(20)]
    lines += [f".decl r{i}(x: number, y: number) .output r{i}" for i in range(100)]
    for i in range(number):
        head = i % 100
        atoms = []
        for k in range(2 + i % 4):
            name = f"e{(i * 7 + k * 3) % 20}" if (i + k) % 2 or not head else f"r{max(0, head - k % 3)}"
            atoms.append(f"{name}(v{k}, v{k + 1})")
        extra = [", v0 != v1", f", v1 = {i % 5} + 2", ""][i % 3]
        lines.append(f"r{head}(v0, v{len(atoms)}) :- {', '.join(atoms)}{extra}.")
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["points_to", "500 rules"])
def test_planning_is_fast(name: str) -> None:
    file = ROOT / "benchmarks/programs/points_to/program.dl"
    program = Program(rules_of_a_large_program(500)) if name == "500 rules" else Program.load(file)
    assert len([rule for stratum in program.compilation.program.strata for rule in stratum.rules]) > 130
    start = time.process_time()
    program.optimised()
    assert time.process_time() - start < 2 * slowness()

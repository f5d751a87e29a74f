"""No pass changes an answer: every case of tests/programs with each pass off and with all of them off, on the reference
engine, and random programs."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.lanes import sampled
from tests.programs.cases import CASES, name_of, options_of, program_of
from tests.properties.rich_programs import Generated, programs

from flintlog.api.run import evaluate
from flintlog.api.user_program import Program
from flintlog.compiler import optimise_compiled
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation, RunOptions
from flintlog.ir.shared import without_shared
from flintlog.passes.context import wanted_by_directives
from flintlog.passes.sequence import ALL, pass_names
from flintlog.syntax import printer
from flintlog.types import Row

Answer = dict[str, set[Row]]


@cache
def answer(case: Path, *without: str) -> Answer:
    """The rows of every result, with some passes off."""
    options, program = options_of(case), program_of(case)
    word_size = options.get("word_size", 64)
    facts = case / "facts" if (case / "facts").is_dir() else case
    run = RunOptions(facts_dir=facts, word_size=word_size)
    optimised = program.optimised(without, verified=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(options.get("stdin", "")))
        rows = evaluate(optimised, NaiveEngine(), run, functors=program.functors())
    return {name: set(rows[name]) for name in wanted_by_directives(optimised)}


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_all_off(case: Path) -> None:
    assert answer(case, ALL) == answer(case)


# A spread of cases for every commit, different ones for each pass; all of them in the slow lane.
@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, marks=sampled(i % 20 == j % 20), id=f"{name}-{name_of(case)}")
        for j, name in enumerate(pass_names())
        for i, case in enumerate(CASES)
    ],
)
def test_one_off(case: Path, name: str) -> None:
    assert answer(case, name) == answer(case)


@pytest.mark.parametrize("examples", [30, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_programs(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(programs(), st.data())
    def check(generated: Generated, data: DataObject) -> None:
        text = printer.print_program(generated.program)
        note(text)
        compilation = Program(text).compilation
        if compilation.report.has_errors:
            return
        wanted = data.draw(st.sets(st.sampled_from(sorted(compilation.program.relations)), min_size=1))
        without = data.draw(st.sets(st.sampled_from(pass_names()), max_size=3))
        expected = NaiveEngine().run(compilation.program, Evaluation())
        program = optimise_compiled(compilation, wanted=wanted, without=without, verified=True).program
        plain = without_shared(program)
        engines = (NaiveEngine(), NaiveEngine(semi_naive=False), LocalEngine())
        for engine in engines:
            rows = engine.run(program if isinstance(engine, NaiveEngine) else plain, Evaluation())
            assert {name: set(rows[name]) for name in wanted} == {name: set(expected[name]) for name in wanted}

    check()

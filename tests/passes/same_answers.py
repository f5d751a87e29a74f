"""A pass changes no answer: what a program's results are with it and without it, on the reference engine."""

from __future__ import annotations

import io
import json
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import HealthCheck

from flintlog.api.run import evaluate
from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation, RunOptions
from flintlog.ir.program import Program as Ir
from flintlog.ir.verify import verify
from flintlog.passes.context import PassContext, wanted_by_directives
from flintlog.passes.order_shows import relations_whose_order_shows
from flintlog.passes.sequence import Transformation

# A property asks with `assume` for examples that compare something: Hypothesis then finds `max_examples` of them. Its
# check of filtering stays: it fails a property whose examples nearly all compare nothing.
MAY_BE_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

CASES = sorted(path.parent for path in (Path(__file__).parents[1] / "programs").glob("*/*/program.dl"))


def case_name(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def applied(program: Ir, wanted: Collection[str], *steps: Transformation, word_size: int = 64) -> Ir:
    """The program after the steps, each called as `sequence` does it, and verified."""
    for step in steps:
        held = relations_whose_order_shows(program)
        program = step(program, PassContext(frozenset(wanted), word_size, held=held))
        verify(program)
    return program


def assert_same_text(text: str, *steps: Transformation, wanted: Collection[str] | None = None) -> bool:
    """Checks a program without inputs, in both modes of the engine; says whether the steps changed it. Programs that
    the checker rejects count as unchanged."""
    compilation = Program(text).compilation
    if compilation.report.has_errors:
        return False
    before = Program(text).results_only() if wanted is None else compilation.program
    names = wanted_by_directives(before) if wanted is None else wanted
    after = applied(before, names, *steps)
    if after is before:
        return False
    expected = NaiveEngine().run(before, Evaluation())
    for semi_naive in (True, False):
        rows = NaiveEngine(semi_naive=semi_naive).run(after, Evaluation())
        assert {name: set(rows[name]) for name in names} == {name: set(expected[name]) for name in names}
    return True


def assert_same_case(case: Path, monkeypatch: pytest.MonkeyPatch, *steps: Transformation) -> None:
    """Checks a case of tests/programs."""
    options = json.loads((case / "options.json").read_text()) if (case / "options.json").exists() else {}
    word_size = options.get("word_size", 64)
    program = Program.load(case / "program.dl", word_size=word_size)
    before = program.results_only()
    wanted = wanted_by_directives(before)
    after = applied(before, wanted, *steps, word_size=word_size)
    if after is before:
        return
    facts = case / "facts"
    run = RunOptions(facts_dir=facts if facts.is_dir() else case, word_size=word_size)
    results = []
    for version in (before, after):
        monkeypatch.setattr("sys.stdin", io.StringIO(options.get("stdin", "")))
        rows = evaluate(version, NaiveEngine(), run, functors=program.functors())
        results.append({name: set(rows[name]) for name in wanted})
    assert results[0] == results[1]

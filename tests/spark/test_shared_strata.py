"""Strata shared by several tasks, or decomposed, against the reference engine and the definition."""

from __future__ import annotations

from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from tests.lanes import sampled
from tests.programs.cases import CASES, few_of_each_feature, name_of, optimised, options_of, program_of
from tests.properties import brute_force
from tests.properties.programs import programs
from tests.spark.ranks_in_memory import evaluate_shared

from flintlog.api.run import evaluate
from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation, RunOptions
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.symbol_order import numbers_show
from flintlog.engines.spark.strata.spread import spread
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words

SAMPLE = dict(zip(few_of_each_feature(4), cycle([2, 7]), strict=False))
RUNS = [
    pytest.param(case, ranks, marks=sampled(SAMPLE.get(case) == ranks), id=f"{name_of(case)}-{ranks}")
    for case in CASES
    for ranks in (2, 7)
]


@pytest.mark.parametrize(("case", "ranks"), RUNS)
def test_program(case: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = without_shared(optimised(case))
    if "stdin" in options_of(case) or numbers_show(lowered):
        return  # what sees the order of rows runs in one place; standard input is not there
    facts_dir, word_size = case / "facts" if (case / "facts").is_dir() else case, options_of(case).get("word_size", 64)
    run = RunOptions(facts_dir=facts_dir, word_size=word_size)
    evaluations: list[Evaluation] = []
    whole = NaiveEngine.run

    def spy(self, program, evaluation):
        evaluation.facts = {name: list(rows) for name, rows in evaluation.facts.items()}
        evaluations.append(evaluation)
        return whole(self, program, evaluation)

    monkeypatch.setattr(NaiveEngine, "run", spy)
    expected = evaluate(lowered, NaiveEngine(), run, functors=program_of(case).functors())
    facts, functions = evaluations[0].facts, evaluations[0].functions
    machine = Machine(Words(run.word_size), functions, lambda message, span: None)
    rows = evaluate_shared(lowered, facts, machine, ranks, parts=ranks == 7)
    for name in lowered.relations:
        assert rows[name] == set(expected[name]), name


def edges(seed: int, nodes: int, count: int) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    return [(int(a), int(b)) for a, b in random.integers(0, nodes, (count, 2))]


MANY_ATOMS = """
    .decl a(x: number, y: number)  .input a
    .decl b(x: number, y: number)  .input b
    .decl p(x: number, y: number)  .output p
    .decl q(x: number, y: number)  .output q
    .decl far(x: number) .output far
    p(x, y) :- a(x, y).
    p(x, w) :- b(y, x), p(y, z), p(z, w), x != w.
    q(z, w) :- b(y, x), p(y, z), p(x, w).
    q(x, y) :- q(x, z), k = z + 1, q(k, y), !a(x, y).
    p(x, y) :- q(x, u), q(y, v), b(u, v), u < v.
    far(x) :- p(x, _), !q(x, _).
"""
SHORTEST = """
    .decl w(x: number, y: number, c: number)  .input w
    .decl d(x: number, c: number)  .output d
    d(0, 0).
    d(y, MIN(c + l)) :- d(x, c), w(x, y, l).
    .decl total(s: number) .output total
    total(s) :- s = sum c : d(_, c).
"""


# A value that merges is read by a later stratum, which would like to have rows spread by it.
MERGED_LATER = """
    .decl w(x: number, y: number, c: number)  .input w
    .decl d(x: number, c: number)
    .decl lim(c: number, k: number)
    .decl f(x: number, k: number)  .output f
    d(0, 0).
    d(y, MIN(c + l)) :- d(x, c), w(x, y, l).
    lim(c, c * 2) :- w(_, _, c).
    lim(c + 1, k) :- lim(c, k), c < 30.
    f(x, k) :- d(x, c), lim(c, k).
"""
# A test stands before the atom of its part that binds what it reads.
TEST_BEFORE_ATOM = """
    .decl a(x: number, y: number)  .input a
    .decl p(x: number, y: number, z: number)  .output p
    p(x, y, x + y) :- a(x, y).
    p(z, x, w) :- p(x, _, u), u > 3, p(y, z, x), z != x, p(w, 1, u), w = (y + x) % 7.
"""


@pytest.mark.parametrize(
    ("text", "ranks", "resume_after", "cut"),
    [
        pytest.param(*way, marks=sampled(number % 5 == 0))
        for number, way in enumerate(
            product([MANY_ATOMS, SHORTEST, MERGED_LATER, TEST_BEFORE_ATOM], [1, 2, 5], [0, 1, 2], [True, False])
        )
    ],
)
def test_large_atoms_and_resumption(text: str, ranks: int, resume_after: int, cut: bool) -> None:
    facts = {"a": edges(1, 12, 14), "b": edges(2, 12, 14), "w": [(*e, 1 + sum(e) % 7) for e in edges(3, 60, 150)]}
    program = Program(text)
    given = {name: rows for name, rows in facts.items() if name in program.compilation.program.relations}
    expected = program.run(given, engine="naive")
    lowered = without_shared(program.optimised())
    machine = Machine(Words(64), {}, lambda message, span: None)
    rows = evaluate_shared(lowered, given, machine, ranks, resume_after=resume_after, cut=cut)
    for name in ("p", "q", "far", "d", "total", "f"):
        if name in lowered.relations:
            assert rows[name], name
            assert rows[name] == set(expected[name]), name


def test_a_rule_without_a_common_variable_is_cut() -> None:
    lowered = without_shared(Program(MANY_ATOMS).optimised())
    strata = [stratum for stratum in lowered.strata if stratum.rules]
    placement = spread(lowered, strata, frozenset({"a", "b"}))
    assert any("#" in name for name in placement.copies)
    assert all(copy.column != -1 for name in ("p", "q") for copy in placement.copies[name]), "no copy of all of it"
    whole = spread(lowered, strata, frozenset({"a", "b"}), cut=False)
    assert not any("#" in name for name in whole.copies)


def compare(program: brute_force.Program) -> None:
    note(program.text())
    expected = brute_force.evaluate(program)
    lowered = without_shared(Program(program.text()).optimised())
    for ranks, cut, parts in ((2, True, False), (3, False, True), (1, True, True)):
        machine = Machine(Words(64), {}, lambda message, span: None)
        rows = evaluate_shared(lowered, {}, machine, ranks, cut=cut, parts=parts)
        assert {name: rows[name] for name in expected if name in rows} == expected


@given(programs())
def test_tasks_agree_with_the_definition(program: brute_force.Program) -> None:
    compare(program)


@pytest.mark.slow
@given(programs())
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_tasks_agree_with_the_definition_at_length(program: brute_force.Program) -> None:
    compare(program)

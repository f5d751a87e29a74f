"""Random programs have the answer that the definition gives them, in every mode of every engine."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from tests.properties import brute_force
from tests.properties.programs import programs

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine, Evaluation
from flintlog.ir.verify import verify


def compare(program: brute_force.Program) -> None:
    note(program.text())
    expected = brute_force.evaluate(program)
    lowered = Program(program.text()).compilation.program
    verify(lowered)
    engines: list[Engine] = [NaiveEngine(), NaiveEngine(semi_naive=False)]
    engines += [LocalEngine(patience=0), LocalEngine(patience=0, threads=2), LocalEngine(patience=20)]
    for engine in engines:
        rows = engine.run(lowered, Evaluation())
        assert {name: set(rows[name]) for name in expected} == expected


@given(programs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_engines_agree_with_the_definition(program: brute_force.Program) -> None:
    compare(program)


@pytest.mark.slow
@given(programs())
@settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_engines_agree_with_the_definition_at_length(program: brute_force.Program) -> None:
    compare(program)

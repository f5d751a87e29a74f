"""The structural planner changes no answer: random programs, and every program of tests/programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, note, settings
from tests.passes.same_answers import CASES, MAY_BE_SLOW, assert_same_case, assert_same_text, case_name
from tests.properties import brute_force
from tests.properties.programs import programs
from tests.properties.rich_programs import Generated
from tests.properties.rich_programs import programs as rich_programs

from flintlog.passes.structural.planner import structural
from flintlog.syntax import printer


@given(programs())
@settings(max_examples=40, suppress_health_check=MAY_BE_SLOW)
def test_random_programs(program: brute_force.Program) -> None:
    note(program.text())
    assume(assert_same_text(program.text(), structural))


@given(rich_programs())
@settings(max_examples=40, suppress_health_check=MAY_BE_SLOW)
def test_random_programs_with_records_and_ranges(generated: Generated) -> None:
    text = printer.print_program(generated.program)
    note(text)
    assume(assert_same_text(text, structural))


@pytest.mark.slow
@given(programs(), rich_programs())
@settings(max_examples=3000, suppress_health_check=MAY_BE_SLOW)
def test_random_programs_at_length(plain: brute_force.Program, rich: Generated) -> None:
    note(plain.text())
    acted = assert_same_text(plain.text(), structural)
    text = printer.print_program(rich.program)
    note(text)
    assume(assert_same_text(text, structural) or acted)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_programs(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_case(case, monkeypatch, structural)

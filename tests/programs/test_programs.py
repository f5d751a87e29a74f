"""Every case of tests/programs/<feature>/<case> on every engine and mode, against one expectation. Spark has its own
file: tests/spark/test_programs.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.programs.cases import CASES, check_case, name_of, options_of, run_case

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Engine
from flintlog.ir.text import parse_program, print_program

MODES: dict[str, Engine] = {
    "semi-naive": NaiveEngine(),
    "naive": NaiveEngine(semi_naive=False),
    "local": LocalEngine(),
    "local-columns": LocalEngine(patience=0),
    "local-columns-j2": LocalEngine(threads=2, patience=0),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_program(case: Path, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, tmp_path, run_case(case, tmp_path, monkeypatch, MODES[mode]))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_ir_text_round_trip(case: Path) -> None:
    program = Program.load(case / "program.dl", word_size=options_of(case).get("word_size", 64)).compilation.program
    text = print_program(program)
    assert parse_program(text) == program

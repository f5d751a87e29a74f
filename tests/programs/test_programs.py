"""Every case of tests/programs/<feature>/<case> on every engine and mode, against one expectation. Spark has its own
file: tests/spark/test_programs.py.

In the fast lane, every case runs on both engines as a user runs it, and in one of the other modes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lanes import sampled
from tests.programs.cases import CASES, check_case, name_of, program_of, run_case

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


# Takes a thousand rounds, and the mode `naive` computes every row in each of them.
LONG = "recursion/long_chain"
OTHERS = ["naive", "local-columns", "local-columns-j2"]
RUNS = [
    pytest.param(
        case,
        mode,
        marks=sampled(mode not in OTHERS or (mode == OTHERS[number % len(OTHERS)] and name_of(case) != LONG)),
        id=f"{name_of(case)}-{mode}",
    )
    for number, case in enumerate(CASES)
    for mode in MODES
]


@pytest.mark.parametrize(("case", "mode"), RUNS)
def test_program(case: Path, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, tmp_path, run_case(case, tmp_path, monkeypatch, MODES[mode]))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_ir_text_round_trip(case: Path) -> None:
    program = program_of(case).compilation.program
    text = print_program(program)
    assert parse_program(text) == program

"""Every case of tests/programs/<feature>/<case> on every engine and mode, against one expectation.

A case has `program.dl`, maybe `facts/`, `functors.py` and `options.json` ({"word_size": 32}), and `expected/` with the
files the run must write, and `stdout` for what it must print. Delimited files are compared as sets of lines.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from flintlog.api.program import Program
from flintlog.api.run import Run, evaluate, write_results
from flintlog.engines.engine import Engine
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.ir.text import parse_program, print_program
from flintlog.ir.verify import verify

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/program.dl"))
MODES: dict[str, Engine] = {
    "semi-naive": NaiveEngine(),
    "naive": NaiveEngine(semi_naive=False),
    "local": LocalEngine(),
    "local-columns": LocalEngine(patience=0),
    "local-columns-j2": LocalEngine(threads=2, patience=0),
}


def run_case(case: Path, engine: Engine, out: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a case as the command line would; returns what it printed."""
    options = json.loads((case / "options.json").read_text()) if (case / "options.json").exists() else {}
    word_size = options.get("word_size", 64)
    monkeypatch.setattr("flintlog.api.run.load_engine", lambda name, threads: engine)
    facts = case / "facts"
    program = Program.load(case / "program.dl", word_size=word_size)
    lowered = program.optimised(verified=True)
    verify(lowered)
    run = Run(facts_dir=facts if facts.is_dir() else case, word_size=word_size, functors=program.functors())
    stdout = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(options.get("stdin", "")))
    write_results(lowered, evaluate(lowered, run), out, word_size=word_size, stdout=stdout)
    return stdout.getvalue()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_program(case: Path, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = run_case(case, MODES[mode], tmp_path, monkeypatch)
    expected = {path.name: path for path in (case / "expected").iterdir()}
    assert expected, "the case expects nothing"
    stdout = expected.pop("stdout", None)
    assert sorted(printed.splitlines()) == sorted(stdout.read_text().splitlines() if stdout else [])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(expected)
    for name, path in expected.items():
        if path.suffix in (".gz", ".parquet", ".arrow", ".sqlite", ".db"):
            assert (tmp_path / name).stat().st_size > 0
            continue
        got, want = (tmp_path / name).read_text().splitlines(), path.read_text().splitlines()
        assert sorted(got) == sorted(want), name


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_ir_text_round_trip(case: Path) -> None:
    options = json.loads((case / "options.json").read_text()) if (case / "options.json").exists() else {}
    program = Program.load(case / "program.dl", word_size=options.get("word_size", 64)).compilation.program
    text = print_program(program)
    assert parse_program(text) == program

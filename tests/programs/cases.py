"""The cases of tests/programs/<feature>/<case>: how one is run, and what must have come of it.

A case has `program.dl`, maybe `facts/`, `functors.py` and `options.json` ({"word_size": 32}), and `expected/` with the
files the run must write, and `stdout` for what it must print. Delimited files are compared as sets of lines.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flintlog.api.run import evaluate, write_results
from flintlog.api.user_program import Program
from flintlog.engines.protocol import Engine, RunOptions
from flintlog.ir import program as ir
from flintlog.ir.verify import verify

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/program.dl"))


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def options_of(case: Path) -> dict[str, Any]:
    file = case / "options.json"
    options: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return options


def few_of_each_feature(step: int) -> Iterator[Path]:
    """Of each feature every `step`th case, and at least one: a sample for the fast lane."""
    seen: Counter[str] = Counter()
    for case in CASES:
        if seen[case.parent.name] % step == 0:
            yield case
        seen[case.parent.name] += 1


@cache
def program_of(case: Path) -> Program:
    return Program.load(case / "program.dl", word_size=options_of(case).get("word_size", 64))


@cache
def optimised(case: Path) -> ir.Program:
    """The program after all passes, the same for all engines and modes."""
    lowered = program_of(case).optimised(verified=True)
    verify(lowered)
    return lowered


def run_case(case: Path, out: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine, **how: Any) -> str:
    """Runs a case as the command line would; returns what it printed. `how` are fields of RunOptions."""
    options = options_of(case)
    word_size = options.get("word_size", 64)
    facts = case / "facts"
    lowered = optimised(case)
    outputs = frozenset(d.relation for d in lowered.io if d.kind == "output")
    chosen = RunOptions(
        facts_dir=facts if facts.is_dir() else case,
        word_size=word_size,
        wanted=outputs,
        sized=frozenset(d.relation for d in lowered.io if d.kind == "printsize") - outputs,
        **how,
    )
    stdout = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(options.get("stdin", "")))
    write_results(
        lowered,
        evaluate(lowered, engine, chosen, functors=program_of(case).functors()),
        out,
        word_size=word_size,
        stdout=stdout,
    )
    return stdout.getvalue()


def check_case(case: Path, out: Path, printed: str) -> None:
    """Compares what a run wrote into `out`, and printed, with what the case expects."""
    expected = {path.name: path for path in (case / "expected").iterdir()}
    assert expected, "the case expects nothing"
    stdout = expected.pop("stdout", None)
    assert sorted(printed.splitlines()) == sorted(stdout.read_text().splitlines() if stdout else [])
    assert sorted(path.name for path in out.iterdir()) == sorted(expected)
    for name, path in expected.items():
        if path.suffix in (".gz", ".parquet", ".arrow", ".sqlite", ".db"):
            assert (out / name).stat().st_size > 0
            continue
        got, want = (out / name).read_text().splitlines(), path.read_text().splitlines()
        assert sorted(got) == sorted(want), name

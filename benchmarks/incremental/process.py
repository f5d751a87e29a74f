"""Has a script carried out by a process of its own, and gathers what it says."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contestants import ROOT
from benchmarks.incremental.cases import Case
from benchmarks.incremental.script import Outcome, Step, Timing, write_script
from benchmarks.process import Finished, measure


def perform(case: Case, steps: Sequence[Step], work: Path, limit: float) -> Outcome:
    """The figures of all steps that have a key. A process that takes longer than `limit` seconds is killed."""
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        folder = Path(scratch).resolve()
        script = write_script(folder / "script.json", case.program.resolve(), steps)
        command = [sys.executable, "-m", "benchmarks.incremental.worker", str(script), str(folder)]
        finished = measure(command, ROOT, limit)
    return gathered(finished, limit)


def gathered(finished: Finished, limit: float) -> Outcome:
    """The figures of what a process wrote, and how it ended."""
    outcome = Outcome(mb=finished.mb)
    for line in finished.stdout.splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # killed while it wrote
        table = json.loads(line)
        if "status" in table:
            outcome.status, outcome.message = table["status"], table["message"]
            continue
        timing = outcome.figures.setdefault(table["key"], Timing())
        timing.wall.append(table["wall"])
        timing.cpu.append(table["cpu"])
        timing.changed.append(table.get("changed", 0))
    if finished.timed_out:
        outcome.status, outcome.message = "timeout", f"not done after {limit:g} s"
    elif finished.code != 0:
        said = finished.stderr.strip().splitlines() or ["it said nothing"]
        outcome.status, outcome.message = "failed", f"exit code {finished.code}: {said[-1]}"
    return outcome

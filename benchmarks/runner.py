"""Measure: every contestant on every row, interleaved, the answer checked before a time counts."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks import machine
from benchmarks.answer import wrong_parts
from benchmarks.contestants import CannotRun, Contestant
from benchmarks.definition import Benchmark, DataSet, Row
from benchmarks.facts import Facts, NoData, stage
from benchmarks.process import Finished, measure
from benchmarks.results import Outcome, RowResult

WarmUp = Literal["row", "small", "none"]


@dataclass
class Runner:
    """How to measure. `contestants` begins with flintlog, the one that is warmed up; `say` gets a line of progress."""

    contestants: Sequence[Contestant]
    facts: Facts
    work: Path
    repeat: int
    timeout: float | None
    warm_up: WarmUp
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        self._warmed: set[str] = set()

    def run_row(self, row: Row) -> RowResult:
        """One row, each contestant `repeat` times in turn. Whoever fails once does not run again."""
        data = row.data
        outcomes = {contestant.name: Outcome() for contestant in self.contestants}
        load = machine.load()
        result = RowResult(row.benchmark.name, data.name, data.goal, data.expected, data.references, load, outcomes)
        self.say(f"{row.name} (load {load:.1f})")
        needed = row.benchmark.data[0] if self.warm_up == "small" else data
        try:
            for name in {needed.name, data.name}:
                self.facts.folder(name)
        except NoData as missing:
            for outcome in outcomes.values():
                outcome.status, outcome.message = "cannot", str(missing)
            self.say(f"  {missing}")
            return result

        self._warm(row, outcomes[self.contestants[0].name])
        for turn in range(self.repeat):
            # Every other turn backwards: nobody always runs right after the same neighbour.
            for contestant in self.contestants if turn % 2 == 0 else list(reversed(self.contestants)):
                outcome = outcomes[contestant.name]
                if outcome.status == "ok":
                    self._run(contestant, row.benchmark, data, outcome)
        return result

    def _warm(self, row: Row, outcome: Outcome) -> None:
        """The untimed run: compiles and caches kernels, and brings the facts into the file cache for everybody."""
        flintlog = self.contestants[0]
        if self.warm_up == "row":
            self._run(flintlog, row.benchmark, row.data, outcome, timed=False)
        elif self.warm_up == "small" and row.benchmark.name not in self._warmed:
            self._warmed.add(row.benchmark.name)
            self._run(flintlog, row.benchmark, row.benchmark.data[0], Outcome(), timed=False)

    def _run(
        self, contestant: Contestant, benchmark: Benchmark, data: DataSet, outcome: Outcome, *, timed: bool = True
    ) -> None:
        """Run once and enter into `outcome` what came of it."""
        facts = stage(self.facts.folder(data.name), benchmark.facts, self.work / "facts" / benchmark.name / data.name)
        out = self.work / "out" / contestant.name
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        try:
            command = contestant.command(benchmark, facts, out)
        except CannotRun as reason:
            outcome.status, outcome.message = "cannot", str(reason)
            self.say(f"  {contestant.name:9} cannot: {reason}")
            return
        done = measure(command, facts, self.timeout)
        _judge(done, data, out if contestant.writes_files else None, outcome)
        if outcome.status == "ok" and timed:
            outcome.wall.append(round(done.wall, 4))
            outcome.cpu.append(round(done.cpu, 4))
            outcome.mb.append(round(done.mb, 1))
        state = f"{outcome.status}: {outcome.message}" if outcome.message else "" if timed else "(warm-up, not counted)"
        self.say(f"  {contestant.name:9} {done.wall:8.2f} s {done.cpu:8.2f} CPU s {done.mb:7.0f} MB {state}".rstrip())


def _judge(done: Finished, data: DataSet, out: Path | None, outcome: Outcome) -> None:
    if done.timed_out:
        outcome.status, outcome.message = "timeout", f"killed after {done.wall:.0f} s"
    elif done.code != 0:
        outcome.status, outcome.message = "failed", f"exit code {done.code}: {_last_line(done.stderr)}"
    elif wrong := wrong_parts(data, done.stdout, out):
        outcome.status, outcome.message = "wrong", "; ".join(wrong)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing on stderr"

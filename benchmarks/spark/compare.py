"""All contestants on the same rows, in one run: each in a process of its own, with one warm session."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.results import Outcome, Status
from benchmarks.spark.contestants import HAND_WRITTEN, RECURSIVE_SQL, Job, Reply
from benchmarks.spark.process import Failed, Late, Worker
from benchmarks.spark.results import RowResult
from benchmarks.spark.rows import SparkRow

_RIVALS = (HAND_WRITTEN, RECURSIVE_SQL)


@dataclass
class Comparer:
    """How to compare. `limit` is in seconds and cuts a single run; `say` gets a line of progress."""

    contestants: Sequence[str]
    repeat: int
    limit: float
    master: str
    memory: str
    work: Path
    say: Callable[[str], None]

    def run_row(self, row: SparkRow, job: Job) -> RowResult:
        """Fresh sessions for every row, so that nobody's memory is full of the last one. A run that does not count
        comes first and warms the session up; then the contestants take turns. Whoever fails is not asked again."""
        result = RowResult(row.program, row.data, row.expected, row.levels + 1, machine.load())
        self.say(f"{row.name} (load {result.load:.1f})")
        with ExitStack() as stack:
            workers = {name: stack.enter_context(self._worker(name)) for name in self.contestants}
            for worker in workers.values():  # nobody is measured while others start
                with suppress(Late, Failed):
                    worker.wait_until_ready()
            for turn in range(self.repeat + 1):
                for name in self.contestants if turn % 2 == 0 else reversed(self.contestants):
                    outcome = result.outcomes.setdefault(name, Outcome())
                    if outcome.status == "ok":
                        self._ask(workers[name], job, row, result, timed=turn > 0)
        result.outcomes = {name: result.outcomes[name] for name in self.contestants}
        return result

    def _worker(self, name: str) -> Worker:
        return Worker(name, self.work / f"{name.replace(' ', '-')}.log", self.master, self.memory)

    def _ask(self, worker: Worker, job: Job, row: SparkRow, result: RowResult, *, timed: bool) -> None:
        name, outcome = worker.contestant, result.outcomes[worker.contestant]
        try:
            reply = worker.ask(job, self.limit)
        except Late as late:
            outcome.status, outcome.message = "timeout", str(late)
        except Failed as reason:
            outcome.status, outcome.message = "failed", str(reason)
            worker.end()
        else:
            if name not in _RIVALS:
                result.notes[name] = reply.notes
            outcome.status, outcome.message = judge(name, reply, row.expected)
            if outcome.status == "ok" and timed:
                outcome.wall.append(round(reply.seconds, 4))
            counted = "" if timed else " (warm-up, not counted)"
            self.say(f"  {name:15} {reply.seconds:8.2f} s{counted} {outcome.message}".rstrip())
            return
        self.say(f"  {name:15} {outcome.status}: {outcome.message}")


def judge(contestant: str, reply: Reply, expected: dict[str, str]) -> tuple[Status, str]:
    """The status of an answer and what to say of it: `ok`, `wrong`, or `cannot` for a strategy that did not apply."""
    wrong = [
        f"{name} is {reply.printed.get(name, 'missing')}, expected {value}"
        for name, value in expected.items()
        if reply.printed.get(name) != value
    ]
    if wrong:
        return "wrong", "; ".join(wrong)
    if contestant not in (*_RIVALS, "auto") and contestant not in reply.strategies.values():
        return "cannot", "; ".join(note for note in reply.notes if f"not {contestant}" in note)
    return "ok", ""

"""How each contestant answers, inside its own process. All start at the files and end at what the program prints."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

HAND_WRITTEN = "hand-written"
RECURSIVE_SQL = "WITH RECURSIVE"
STRATEGIES = ("auto", "dataframe", "decomposed", "resident", "single")


@dataclass(frozen=True)
class Job:
    """What to answer: the program as a file, and its name among the rivals' ("" if they have none).

    `levels` is said to recursive SQL, which cannot find out for itself when to stop.
    """

    program: Path
    facts: Path
    rival: str = ""
    levels: int = 0
    partitions: int | None = None


@dataclass
class Reply:
    """What came of it. `stamps` are (round, seconds since the start) as the engine told them, `notes` what it said,
    `strategies` how it evaluated the relations that are recursive."""

    seconds: float
    printed: dict[str, str]
    rounds: int = 0
    stamps: list[tuple[int, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    strategies: dict[str, str] = field(default_factory=dict)


def answer(contestant: str, spark: Any, job: Job) -> Reply:
    """Runs the job once, on the clock. Raises whatever goes wrong."""
    if contestant == HAND_WRITTEN:
        rival = import_module(f"benchmarks.rivals.{job.rival}")
        return _timed(lambda: rival.answer(spark, job.facts))
    if contestant == RECURSIVE_SQL:
        from benchmarks.rivals import with_recursive

        return _timed(lambda: with_recursive.answer(spark, job.rival, job.facts, job.levels))
    return _flintlog(spark, job, contestant)


def _timed(run: Callable[[], Any]) -> Reply:
    started = time.perf_counter()
    found = run()
    seconds = time.perf_counter() - started
    return Reply(seconds, {name: str(value) for name, value in found.printed.items()}, found.rounds)


def _flintlog(spark: Any, job: Job, strategy: str) -> Reply:
    """As `flintlog run` does it: only what `.printsize` and `.output` ask for is computed, sizes are just counted."""
    from flintlog.api.run import evaluate
    from flintlog.api.user_program import Program
    from flintlog.engines.protocol import Progress, RunOptions
    from flintlog.engines.spark.engine import SparkEngine
    from flintlog.engines.spark_options import SparkOptions

    reply = Reply(0.0, {})

    def watch(progress: Progress) -> None:
        if progress.note:
            reply.notes.append(progress.note)
        elif not reply.stamps or reply.stamps[-1][0] != progress.round:
            reply.stamps.append((progress.round, time.perf_counter() - started))
            reply.rounds = max(reply.rounds, progress.round)

    started = time.perf_counter()
    program = Program.load(job.program).optimised()
    shown = {kind: frozenset(d.relation for d in program.io if d.kind == kind) for kind in ("output", "printsize")}
    options = RunOptions(
        facts_dir=job.facts,
        wanted=shown["output"],
        sized=shown["printsize"],
        spark=SparkOptions(session=spark, strategy=strategy, partitions=job.partitions),
        progress=watch,
    )
    rows = evaluate(program, SparkEngine(), options)
    reply.printed = {name: str(len(rows[name])) for name in shown["printsize"]}
    for name in shown["output"]:
        reply.printed[name] = "\n".join("\t".join(map(str, row)) for row in rows[name])
    reply.seconds = time.perf_counter() - started
    recursive = {name for stratum in program.strata if stratum.recursive for name in stratum.relations}
    reply.strategies = {name: way for name, way in strategies(reply.notes).items() if name in recursive}
    return reply


def strategies(notes: Iterable[str]) -> dict[str, str]:
    """The strategy of each relation, from what the engine says before it evaluates some.

    >>> strategies(["reading", "A, B: resident, as told", "C: single, not resident: it chooses among rows"])
    {'A': 'resident', 'B': 'resident', 'C': 'single'}
    """
    found = [re.match(r"(\S.*?): (\w+), ", note) for note in notes]
    return {name: match[2] for match in found if match is not None for name in match[1].split(", ")}

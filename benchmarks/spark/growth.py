"""How time grows with data at fixed cores: a graph once, and two, four and eight times side by side.

Copies share nothing, so rows and candidates (rows before duplicates go) grow exactly by the number of copies, and the
rounds stay as they are. Time may grow as much, not more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.definition import PROGRAMS
from benchmarks.spark.contestants import Job
from benchmarks.spark.data import closure, copies, random_graph, write
from benchmarks.spark.process import Failed, Late, Worker

TIMES = (1, 2, 4, 8)
# What may come on top of eight times the time for eight times the rows: clocks and neighbours.
TOLERANCE = 0.1


@dataclass(frozen=True)
class Base:
    """A program that a strategy applies to, and the graph that is copied."""

    strategy: str
    program: str
    nodes: int
    arcs: int


BASES = (
    Base("dataframe", "tc", 500, 2_500),
    Base("decomposed", "tc", 2_000, 10_000),
    Base("resident", "tc", 2_000, 10_000),
    Base("single", "tc", 2_000, 10_000),
)


@dataclass
class Growth:
    """Of one strategy: `candidates` and `seconds` for each number of copies."""

    strategy: str
    candidates: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    message: str = ""

    @property
    def ratio(self) -> float | None:
        """The time for the most copies over the time for one; None if one of them has none."""
        return self.seconds[-1] / self.seconds[0] if len(self.seconds) == len(TIMES) else None

    @property
    def is_linear(self) -> bool:
        """Against the time for one copy, and between the largest two, where fixed costs hide little."""
        ratio = self.ratio
        if ratio is None:
            return False
        step = TIMES[-1] / TIMES[-2] * (1 + TOLERANCE)
        return ratio <= TIMES[-1] * (1 + TOLERANCE) and self.seconds[-1] / self.seconds[-2] <= step


@dataclass
class Growths:
    machine: dict[str, Any]
    settings: dict[str, Any]
    growths: list[Growth] = field(default_factory=list)


def measure(base: Base, work: Path, repeat: int, limit: float, memory: str, say: Callable[[str], None]) -> Growth:
    """Medians of `repeat` runs after one that does not count."""
    found = Growth(base.strategy)
    once = random_graph(base.nodes, base.arcs)
    size = closure(once)
    program = PROGRAMS / base.program / "program.dl"
    with Worker(base.strategy, work / f"growth-{base.strategy}.log", memory=memory) as worker:
        try:
            for times in TIMES:
                facts = work / f"rand-{base.nodes}-{times}"
                write(copies(once, times), facts / "Arc.facts")
                job = Job(program, facts.resolve(), partitions=2)
                replies = [worker.ask(job, limit) for _ in range(repeat + (times == 1))][-repeat:]
                if any(reply.printed != {"Tc": str(times * size.rows)} for reply in replies):
                    raise Failed(f"a wrong answer for {times} copies: {replies[0].printed}")
                if base.strategy not in replies[0].strategies.values():
                    raise Failed("; ".join(replies[0].notes) or "the strategy was not used")
                found.candidates.append(times * size.candidates)
                found.rows.append(times * size.rows)
                found.seconds.append(median(reply.seconds for reply in replies))
                say(f"{base.strategy}: {found.candidates[-1]:,} candidates in {found.seconds[-1]:.2f} s")
        except (Late, Failed) as reason:
            found.message = str(reason)
            say(f"{base.strategy}: {reason}")
    return found


def table(growths: Sequence[Growth]) -> str:
    """As Markdown.

    >>> print(table([Growth("single", [10, 20, 40, 80], [5, 10, 20, 40], [1.0, 1.5, 2.5, 4.5])]))
    | strategy | candidates | rows at ×8 | seconds ×1 | ×2 | ×4 | ×8 | ×8 ÷ ×1 | ×8 ÷ ×4 | at most linear |
    |---|--:|--:|--:|--:|--:|--:|--:|--:|---|
    | single | 10 to 80 | 40 | 1.00 | 1.50 | 2.50 | 4.50 | 4.5 | 1.8 | yes |
    """
    lines = [
        "| strategy | candidates | rows at ×8 | seconds ×1 | ×2 | ×4 | ×8 | ×8 ÷ ×1 | ×8 ÷ ×4 | at most linear |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for found in growths:
        if found.ratio is None:
            lines.append(f"| {found.strategy} | {found.message.replace('|', '/')} | | | | | | | | **no** |")
            continue
        cells = [found.strategy, f"{found.candidates[0]:,} to {found.candidates[-1]:,}", f"{found.rows[-1]:,}"]
        cells += [f"{seconds:.2f}" for seconds in found.seconds]
        cells += [f"{found.ratio:.1f}", f"{found.seconds[-1] / found.seconds[-2]:.1f}"]
        cells.append("yes" if found.is_linear else "**no**")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)

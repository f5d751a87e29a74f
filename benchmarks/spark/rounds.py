"""What a round costs beside its work: a walk along a chain, one new row a round.

The difference between chains of different length is free of what every run costs once. Three lengths give it twice,
for early rounds and for late ones: it must be the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.spark.contestants import Job
from benchmarks.spark.data import chain, write
from benchmarks.spark.process import Failed, Late, Worker

# The row that walks moves from task to task: nothing of it stays where it is.
WALK = """
.decl Arc(x: number, y: number)
.input Arc
.decl At(x: number)
.printsize At
At(0).
At(y) :- At(x), Arc(x, y).
"""
# Here the walker keeps its name, so each task can follow its own.
NAMED_WALK = """
.decl Arc(x: number, y: number)
.input Arc
.decl At(walker: number, x: number)
.printsize At
At(1, 0). At(2, 0).
At(w, y) :- At(w, x), Arc(x, y).
"""


@dataclass(frozen=True)
class Way:
    """A strategy with the chains to measure it on, and the milliseconds that a round may take."""

    strategy: str
    program: str
    lengths: tuple[int, int, int]
    goal: float


WAYS = (
    Way("dataframe", WALK, (50, 300, 550), 300.0),
    Way("resident", WALK, (500, 5_500, 10_500), 5.0),
    # No round of `decomposed` is seen outside of a task; the goal only leaves room for what the clock cannot tell.
    Way("decomposed", NAMED_WALK, (500, 5_500, 10_500), 0.5),
    Way("single", WALK, (500, 5_500, 10_500), 0.5),
)


@dataclass
class Cost:
    """Of one strategy: `seconds` by length; `early` and `late` are milliseconds a round, between the first and second
    length and between the second and third."""

    strategy: str
    lengths: list[int]
    goal: float
    seconds: list[float] = field(default_factory=list)
    early: float | None = None
    late: float | None = None
    message: str = ""


@dataclass
class Rounds:
    machine: dict[str, Any]
    settings: dict[str, Any]
    costs: list[Cost] = field(default_factory=list)


def measure(way: Way, work: Path, repeat: int, limit: float, memory: str, say: Callable[[str], None]) -> Cost:
    """Medians of `repeat` runs after one that does not count, on two tasks."""
    cost = Cost(way.strategy, list(way.lengths), way.goal)
    program = work / f"{way.strategy}.dl"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(way.program, encoding="utf-8")
    with Worker(way.strategy, work / f"rounds-{way.strategy}.log", memory=memory) as worker:
        try:
            for length in (way.lengths[0], *way.lengths):
                facts = work / f"walk-{length}"
                write(chain(length, 0), facts / "Arc.facts")
                job = Job(program, facts.resolve(), partitions=2)
                replies = [worker.ask(job, limit) for _ in range(repeat)]
                walkers = 2 if way.program is NAMED_WALK else 1
                if any(reply.printed != {"At": str(walkers * length)} for reply in replies):
                    raise Failed(f"a wrong answer for {length} rounds: {replies[0].printed}")
                if way.strategy not in replies[0].strategies.values():
                    raise Failed("; ".join(replies[0].notes) or "the strategy was not used")
                cost.seconds.append(median(reply.seconds for reply in replies))
                say(f"{way.strategy}: {length} rounds in {cost.seconds[-1]:.2f} s")
        except (Late, Failed) as reason:
            cost.message = str(reason)
            say(f"{way.strategy}: {reason}")
            return cost
    cost.seconds = cost.seconds[1:]  # the first was to warm up
    cost.early, cost.late = per_round(cost.lengths, cost.seconds)
    return cost


def per_round(lengths: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Milliseconds a round, among the early ones and among the late ones.

    >>> per_round((100, 200, 400), (1.0, 1.5, 2.5))
    (5.0, 5.0)
    """
    first, second = (round(1000 * (seconds[i + 1] - seconds[i]) / (lengths[i + 1] - lengths[i]), 4) for i in (0, 1))
    return first, second


def table(costs: Sequence[Cost]) -> str:
    """As Markdown.

    >>> print(table([Cost("resident", [1, 2, 3], 5.0, [1.0, 1.2, 1.3], 0.4, 0.2)]))
    | strategy | rounds | seconds | ms a round, early | late | goal | met |
    |---|--:|--:|--:|--:|--:|---|
    | resident | 1, 2, 3 | 1.00, 1.20, 1.30 | 0.40 | 0.20 | ≤ 5 | yes |
    """
    lines = ["| strategy | rounds | seconds | ms a round, early | late | goal | met |", "|---|--:|--:|--:|--:|--:|---|"]
    for cost in costs:
        cells = [cost.strategy, ", ".join(f"{length:,}" for length in cost.lengths)]
        if cost.early is None or cost.late is None:
            cells += [cost.message.replace("|", "\\|"), "", "", f"≤ {cost.goal:g}", "**no**"]
        else:
            met = "yes" if max(cost.early, cost.late) <= cost.goal else "**no**"
            cells += [", ".join(f"{s:.2f}" for s in cost.seconds), f"{cost.early:.2f}", f"{cost.late:.2f}"]
            cells += [f"≤ {cost.goal:g}", met]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)

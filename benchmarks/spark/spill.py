"""A stratum that is larger than the memory of all executors: `dataframe` must finish it by writing to disk.

Two executors of 1 GiB each compute routes over hubs: one round gives nearly all of the result, which has several GiB.
"""

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.spark.contestants import Job
from benchmarks.spark.data import write
from benchmarks.spark.process import Failed, Worker

MASTER = "local-cluster[2,1,1024]"
SETTINGS = {"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "32"}
HUBS = 64

ROUTES = """
.decl Leg(start: number, end: number, carrier: number, departs: number, arrives: number, price: number)
.input Leg
.decl Route(start: number, end: number, legs: number, first: number, last: number,
            departs: number, arrives: number, price: number)
.printsize Route
Route(x, y, 1, c, c, d, a, p) :- Leg(x, y, c, d, a, p).
Route(x, z, n + 1, f, l, d, a2, p + q) :- Route(x, y, n, f, _, d, a, p), Leg(y, z, l, d2, a2, q), n < 2, a <= d2.
"""
_COLUMNS = 8
_WORD = 8  # bytes


@dataclass
class Spill:
    """One run. Bytes: of the result as plain words; written to disk by sorts and joins, and by what is kept between
    rounds, at its most; `executors` is the peak of each process."""

    machine: dict[str, Any]
    rows: int
    result_bytes: int
    seconds: float
    spilled_bytes: int
    kept_on_disk_bytes: int
    shuffled_bytes: int
    executors: list[int]
    notes: list[str]


def legs(ways: int) -> Iterator[tuple[int, ...]]:
    """`ways` legs into every hub and as many out of it, later: ways² routes over each."""
    for hub in range(HUBS):
        for way in range(ways):
            near, far = HUBS + hub * ways + way, -1 - hub * ways - way
            yield near, hub, way % 10, 100 + way % 60, 200 + way % 60, 10 + way % 7
            yield hub, far, way % 12, 300 + way % 60, 400 + way % 60, 20 + way % 5


def routes(ways: int) -> int:
    """How many rows `Route` has."""
    return HUBS * (2 * ways + ways * ways)


def measure(
    gib: float, partitions: int | None, work: Path, limit: float, machine: dict[str, Any], say: Callable[[str], None]
) -> Spill:
    """Runs it once, with a result of at least `gib` GiB, in so many parts. Raises Late, Failed."""
    ways = 1
    while routes(ways) * _COLUMNS * _WORD < gib * 2**30:
        ways += 1
    events = work / "events"
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir(parents=True)
    facts = write(legs(ways), work / "routes" / "Leg.facts").parent
    program = work / "routes.dl"
    program.write_text(ROUTES, encoding="utf-8")
    say(f"{routes(ways):,} routes of {_COLUMNS} columns")
    with Worker("dataframe", work / "spill.log", MASTER, "1g", {**SETTINGS, **_event_log(events)}) as worker:
        reply = worker.ask(Job(program, facts.resolve(), partitions=partitions), limit)
        executors = [peak for pid in worker.processes() if (peak := _executor_peak(pid)) is not None]
    if reply.printed != {"Route": str(routes(ways))}:
        raise Failed(f"a wrong answer: {reply.printed}, expected {routes(ways)}")
    written = disk_use(line for log in sorted(events.rglob("*")) if log.is_file() for line in _lines(log))
    result = routes(ways) * _COLUMNS * _WORD
    return Spill(machine, routes(ways), result, reply.seconds, *written, executors, reply.notes)


def disk_use(events: Iterable[str]) -> tuple[int, int, int]:
    """From an event log: bytes that sorts and joins spilled, the most that kept blocks had on disk at a time, and
    bytes written for shuffles."""
    spilled = shuffled = most = 0
    on_disk: dict[tuple[str, str], int] = {}
    for line in events:
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            metrics = event.get("Task Metrics") or {}
            spilled += metrics.get("Disk Bytes Spilled", 0)
            shuffled += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        elif event["Event"] == "SparkListenerBlockUpdated":
            block = event["Block Updated Info"]
            on_disk[block["Block Manager ID"]["Executor ID"], block["Block ID"]] = block["Disk Size"]
            most = max(most, sum(on_disk.values()))
    return spilled, most, shuffled


def table(found: Spill) -> str:
    """As Markdown."""
    peaks = " and ".join(f"{peak / 2**20:,.0f} MiB" for peak in found.executors)
    rows = [
        ("rows", f"{found.rows:,}"),
        ("result, as plain words", _gib(found.result_bytes)),
        ("seconds", f"{found.seconds:.0f}"),
        ("written to disk by sorts and joins", _gib(found.spilled_bytes)),
        ("kept on disk between rounds, at most", _gib(found.kept_on_disk_bytes)),
        ("written for shuffles", _gib(found.shuffled_bytes)),
        ("peak memory of the executors (1 GiB of heap each)", peaks),
    ]
    return "\n".join(["| what | how much |", "|---|--:|", *(f"| {what} | {value} |" for what, value in rows)])


def _event_log(folder: Path) -> dict[str, str]:
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.resolve().as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.logBlockUpdates.enabled": "true",
    }


def _lines(log: Path) -> Iterator[str]:
    with log.open(encoding="utf-8") as stream:
        yield from (line for line in stream if line.startswith("{"))


def _executor_peak(pid: int) -> int | None:
    """The most memory that a process has had, in bytes; None if it is no executor."""
    with contextlib.suppress(OSError):
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return None


def _gib(value: int) -> str:
    return f"{value / 2**30:.2f} GiB"

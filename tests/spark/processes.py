"""Processes that tests start on this machine, and everything those start in turn, as /proc shows them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """`session` is the number of the process that began the session; `ticks` is the time it has worked so far."""

    pid: int
    parent: int
    session: int
    ticks: int
    command: str

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def all_processes() -> Iterator[Process]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name stands in brackets and may hold anything, brackets and spaces too.
            state, *numbers = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # has just ended
        if state != "Z":
            ticks = int(numbers[10]) + int(numbers[11])
            yield Process(int(entry.name), int(numbers[0]), int(numbers[2]), ticks, command)


def of_session(leader: int) -> list[Process]:
    """What belongs to the session that a process began: Spark's Python workers have process groups of their own, but
    stay in it."""
    return [process for process in all_processes() if process.session == leader]


def end_session(leader: int, patience: float = 30.0) -> None:
    """Kills a session's processes, until none is left."""
    deadline = time.monotonic() + patience
    while left := of_session(leader):
        for process in left:
            process.kill()
        if time.monotonic() > deadline:
            raise AssertionError(f"these processes do not end: {left}")
        time.sleep(0.05)


def executors(sessions: list[int]) -> list[Process]:
    """The executors among the processes of some sessions, the oldest first."""
    found = [p for p in all_processes() if p.session in sessions and "CoarseGrainedExecutorBackend" in p.command]
    return sorted(found, key=lambda p: p.pid)


def python_workers(sessions: list[int]) -> list[Process]:
    """The processes in which tasks run Python, the busiest first. Their parent, which made them, has the same command
    and is not one of them."""
    found = {p.pid: p for p in all_processes() if p.session in sessions and "pyspark.daemon" in p.command}
    return sorted((p for p in found.values() if p.parent in found), key=lambda p: -p.ticks)

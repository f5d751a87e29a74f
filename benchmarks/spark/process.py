"""The other side of a worker: starts it, asks it, and ends it with everything it has started."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.contestants import ROOT
from benchmarks.spark.contestants import Job, Reply

_START = 300.0  # seconds for a session, on a busy machine


class Late(Exception):
    """The answer did not come in time; the process is gone."""


class Failed(Exception):
    """The contestant cannot answer; the message is its own."""


@dataclass
class Worker:
    """One contestant's process with its session. A context manager: leaving it ends the process."""

    contestant: str
    log: Path
    master: str = "local[2]"
    memory: str = "3g"
    settings: Mapping[str, str] = field(default_factory=dict)

    def __enter__(self) -> "Worker":
        self.log.parent.mkdir(parents=True, exist_ok=True)
        # What Spark puts on disk stays behind when it is killed, so it has a folder of its own.
        self._scratch = tempfile.mkdtemp(prefix="spark-", dir=self.log.parent.resolve())
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                cwd=self.log.parent,  # Spark leaves a folder where it is started
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # by which everything that it starts is found again
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        self._unread = b""
        self._ready = self._gone = False
        return self

    def command(self) -> list[str]:
        command = [sys.executable, "-m", "benchmarks.spark.worker", self.contestant]
        command += ["--master", self.master, "--memory", self.memory]
        settings = {**self.settings, "spark.local.dir": self._scratch}
        return command + [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]

    def __exit__(self, *exc: object) -> None:
        self.end()

    def ask(self, job: Job, limit: float) -> Reply:
        """The answer, if it comes within `limit` seconds, the session's start not counted. Raises Late, Failed."""
        self.wait_until_ready()
        request = {**vars(job), "program": str(job.program), "facts": str(job.facts)}
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        table = json.loads(self._line(limit))
        if "failed" in table:
            raise Failed(table["failed"])
        table["stamps"] = [(int(number), float(at)) for number, at in table["stamps"]]
        return Reply(**table)

    def end(self) -> None:
        """Lets the process stop its session; kills what is there after ten seconds."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self.kill()

    def kill(self) -> None:
        self._gone = True
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def processes(self) -> list[int]:
        """The worker and all it has started: Java, executors, Python tasks (which have process groups of their own)."""
        own = self._process.pid
        alive = [own] if self._process.poll() is None else []  # its number may be another's by now
        return [*alive, *(pid for pid, leader in _sessions() if leader == own and pid != own)]

    def wait_until_ready(self) -> None:
        """Returns when the session is there. Raises Late, Failed."""
        if not self._ready:
            self._line(_START)
            self._ready = True

    def _line(self, limit: float) -> bytes:
        """The next line that the worker writes. Raises Late, and Failed if the worker ends without one."""
        if self._gone:
            raise Failed("its session did not start")
        deadline = time.monotonic() + limit
        stream = self._process.stdout
        assert stream is not None
        while b"\n" not in self._unread:
            readable, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                self.kill()
                raise Late(f"not done after {limit:.0f} s")
            piece = os.read(stream.fileno(), 1 << 16)
            if not piece:
                self.kill()
                raise Failed(f"its process ended; {self.log} says more")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line


def _sessions() -> Iterator[tuple[int, int]]:
    """Every process with the leader of its session, where the system has /proc."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # The name, in brackets, may hold anything; after it come state, parent, group, session.
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            yield int(stat.parent.name), int(after_name[3])

"""The processes of contestants: answered, late, failed, gone."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from benchmarks.spark.contestants import Job
from benchmarks.spark.process import Failed, Late, Worker

JOB = Job(Path("program.dl"), Path("facts"))
READY = "print('{}', flush=True); line = input();"
ANSWER = """print('{"seconds": 1.5, "printed": {"Tc": "3"}, "stamps": [[1, 0.5]]}', flush=True); input()"""


class Scripted(Worker):
    """A process that runs a line of Python in a worker's place."""

    def command(self) -> list[str]:
        return [sys.executable, "-c", self.contestant]


def test_an_answer(tmp_path: Path) -> None:
    with Scripted(READY + ANSWER, tmp_path / "log") as worker:
        reply = worker.ask(JOB, 20)
    assert (reply.seconds, reply.printed, reply.stamps) == (1.5, {"Tc": "3"}, [(1, 0.5)])


def test_one_that_is_late_is_gone_with_all_it_started(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    grandchild = "import os, subprocess, sys, time; child = subprocess.Popen(['sleep', '60'], preexec_fn=os.setpgrp);"
    script = f"{grandchild} open({str(told)!r}, 'w').write(str(child.pid)); {READY} time.sleep(60)"
    with Scripted(script, tmp_path / "log") as worker, pytest.raises(Late):
        worker.ask(JOB, 0.3)
    child = int(told.read_text(encoding="utf-8"))
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_one_that_says_why_not(tmp_path: Path) -> None:
    script = READY + """print('{"failed": "no such thing"}', flush=True); input()"""
    with Scripted(script, tmp_path / "log") as worker, pytest.raises(Failed, match="no such thing"):
        worker.ask(JOB, 20)


def test_one_that_dies(tmp_path: Path) -> None:
    with Scripted("raise SystemExit(3)", tmp_path / "log") as worker, pytest.raises(Failed, match="process ended"):
        worker.ask(JOB, 20)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.is_file() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"

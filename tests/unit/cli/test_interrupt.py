"""Runs that end early: Ctrl-C, and a reader of stdout who has seen enough."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.machine import slowness
from tests.unit.cli.command_line import ENDLESS, FLINTLOG

# An ignored signal stays ignored in a child: Python then installs no handler of its own.
_HEARING = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


@contextmanager
def endless_process(command: list[str], directory: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that hears Ctrl-C even where this one ignores it (in the background, say), and that does not stay."""
    with subprocess.Popen(
        [sys.executable, "-c", _HEARING, *command],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_an_interrupt_stops_an_endless_program_at_once(tmp_path: Path):
    (tmp_path / "endless.dl").write_text(ENDLESS)
    command = [str(FLINTLOG), "run", "endless.dl", "-D", "results"]
    with endless_process(command, tmp_path) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("engine:")  # it is about to run
        time.sleep(0.3)
        interrupted = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=10)
        seconds = time.perf_counter() - interrupted
    assert (process.returncode, out, said) == (130, "", "interrupted\n")
    assert seconds < slowness()
    assert not (tmp_path / "results").exists()


def test_a_reader_that_leaves_is_no_error(tmp_path: Path):
    lines = [".decl a(x: number)", ".output a(IO=stdout)", "a(range(0, 200000))."]
    (tmp_path / "many.dl").write_text("\n".join(lines))
    command = [str(FLINTLOG), "run", "many.dl", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "---------------\n"
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=20) == 0
    assert said == ""

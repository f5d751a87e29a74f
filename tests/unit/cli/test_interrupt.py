"""Runs that end early: Ctrl-C, and a reader of stdout who has seen enough."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from tests.unit.cli.command_line import ENDLESS, FLINTLOG


def test_an_interrupt_stops_an_endless_program_at_once(tmp_path: Path):
    (tmp_path / "endless.dl").write_text(ENDLESS)
    command = [str(FLINTLOG), "run", "endless.dl", "-D", "results"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("engine:")  # it is about to run
        time.sleep(0.3)
        interrupted = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=10)
        seconds = time.perf_counter() - interrupted
    assert (process.returncode, out, said) == (130, "", "interrupted\n")
    assert seconds < 1
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

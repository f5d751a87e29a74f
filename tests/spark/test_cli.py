"""`flintlog run` on Spark, as a process of its own: results, streams, exit codes, and what an interrupt leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FLINTLOG = Path(sys.executable).with_name("flintlog")
PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
.printsize path
.printsize edge
"""
ENDLESS = """
.decl number(x: number)
number(0).
number(x + 1) :- number(x).
.output number
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "path.dl").write_text(PROGRAM)
    (tmp_path / "endless.dl").write_text(ENDLESS)
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    return tmp_path


def environment(here: Path) -> dict[str, str]:
    """Small, and with a place for temporary files where the log can be looked for."""
    (here / "tmp").mkdir(exist_ok=True)
    return os.environ | {"SPARK_DRIVER_MEMORY": "1g", "TMPDIR": str(here / "tmp")}


def test_results_in_files_sizes_on_stdout_all_else_on_stderr(here: Path):
    command: list[str | Path] = [FLINTLOG, "run", "path.dl", "-D", "out", "--engine", "spark", "-j", "2"]
    done = subprocess.run(command, cwd=here, env=environment(here), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (here / "out" / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert done.stdout == "edge\t2\npath\t3\n"
    # Nothing of Spark's own is shown, and its log has gone.
    assert [line for line in done.stderr.splitlines() if not line.startswith(("path: ", "edge"))] == []
    assert list((here / "tmp").glob("flintlog-*.log")) == []


@pytest.mark.slow  # which starts another Java, for what the tests of errors show in this process
def test_a_mistake_is_exit_code_one(here: Path):
    (here / "edge.facts").write_text("1\t2\nx\t3\n")
    command: list[str | Path] = [FLINTLOG, "run", "path.dl", "-D", "out", "--engine", "spark", "-j", "2", "--quiet"]
    done = subprocess.run(command, cwd=here, env=environment(here), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "edge.facts:2:1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (here / "out").exists()


@pytest.mark.parametrize(("master", "code"), [("loacl[2]", "E922"), ("spark://127.0.0.1:1", "E923")])
def test_a_master_that_is_none(here: Path, master: str, code: str):
    command: list[str | Path] = [FLINTLOG, "run", "path.dl", "--master", master]
    started = time.monotonic()
    done = subprocess.run(command, cwd=here, env=environment(here), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error[{code}]" in done.stderr
    assert time.monotonic() - started < 20


def test_an_interrupt_ends_the_run_and_its_java(here: Path):
    command = [str(FLINTLOG), "run", "endless.dl", "-D", "out", "--master", "local[2]"]
    # An ignored signal stays ignored in a child, and Python then hears nothing of it.
    hearing = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hearing, *command],
        cwd=here,
        env=environment(here),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("engine: spark")
            assert process.stderr.readline().startswith("number: ")  # the strategy is chosen: it is about to run
            time.sleep(3)
            java = children(process.pid)
            assert java
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, out, said) == (130, "", "interrupted\n")
    assert not (here / "out").exists()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{child}").exists() for child in java) and time.monotonic() < until:
        time.sleep(0.2)
    assert [child for child in java if Path(f"/proc/{child}").exists()] == []


def children(parent: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            child = int(stat.parent.name)
            found += [child, *children(child)]
    return found

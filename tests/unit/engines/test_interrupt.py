"""Ctrl-C in the middle of a large join."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.machine import slowness
from tests.unit.cli.command_line import FLINTLOG

# The closure of a random graph of 4,000 nodes has 16 million rows within a few rounds, for billions of candidates.
PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
"""
NODES, EDGES = 4000, 40_000


def _heed_interrupts() -> None:
    """Tests that run as a background job have inherited that interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupt_stops_the_kernels_soon(tmp_path: Path, threads: str):
    pick = random.Random(1)
    edges = (f"{pick.randrange(NODES)}\t{pick.randrange(NODES)}\n" for _ in range(EDGES))
    (tmp_path / "edge.facts").write_text("".join(edges))
    (tmp_path / "closure.dl").write_text(PROGRAM)
    command = [str(FLINTLOG), "run", "closure.dl", "-F", ".", "-D", "results", "-j", threads, "--progress"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_heed_interrupts
    )
    try:
        assert process.stderr is not None
        said = b""
        while b"path" not in said:  # the first rounds are over, the long ones come
            more = os.read(process.stderr.fileno(), 1000)
            assert more, said
            said += more
        time.sleep(0.5)
        assert process.poll() is None
        interrupted = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=20)
        seconds = time.perf_counter() - interrupted
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert rest.endswith(b"interrupted\n")
    assert b"Traceback" not in rest
    assert seconds < 2 * slowness()  # well below one on a machine that has nothing else to do
    assert not (tmp_path / "results").exists()

"""Runs `flintlog` as a user does: as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FLINTLOG = Path(sys.executable).with_name("flintlog")

PROGRAM = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
.output path
.printsize path
edge(1, 2). edge(2, 3).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
ENDLESS = """
.decl small(x: number)
.output small
small(1).
.decl number(x: number)
.output number
number(0).
number(x + 1) :- number(x).
"""


def flintlog(*arguments: str | Path, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The finished process. Whatever happens, no traceback is shown."""
    command = [str(FLINTLOG), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def refused(*arguments: str | Path, cwd: Path) -> str:
    """What is said on stderr about a mistake of the user's: exit code 1, nothing on stdout."""
    done = flintlog(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    return done.stderr

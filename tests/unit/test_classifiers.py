"""The systems that pyproject.toml names are those whose modules the sources import."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Modules of the standard library that Windows does not have.
POSIX = re.compile(r"^\s*(?:import|from) (fcntl|grp|posix|pwd|pty|resource|termios|tty)\b", re.MULTILINE)


def test_what_needs_posix_does_not_claim_every_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    systems = {name for name in project["classifiers"] if name.startswith("Operating System :: ")}
    needs_posix = any(POSIX.search(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py"))
    claimed = {"Operating System :: MacOS", "Operating System :: POSIX"}
    assert systems == (claimed if needs_posix else {"Operating System :: OS Independent"})

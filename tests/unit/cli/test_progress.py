"""How far a run is: one line that is written over, and notes that stay."""

from __future__ import annotations

import io

import pytest

from flintlog.cli import progress
from flintlog.cli.progress import ProgressLine
from flintlog.engines.protocol import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE", "ON_TERMINAL", "IN_LOG"):
        monkeypatch.setattr(progress, name, 0.0)


def test_a_round_says_what_is_new_and_what_there_is():
    stream = Terminal()
    ProgressLine(stream)(Progress(2, 5, 7, "path", 12_345, delta=678))
    assert stream.getvalue().startswith("stratum 2/5, round 7: path has 12,345 rows, 678 new (")
    assert stream.getvalue().endswith(" s)\r")


def test_a_note_stays_and_the_line_does_not():
    stream = Terminal()
    line = ProgressLine(stream)
    line(Progress(1, 1, 1, "path", 5))
    shown = stream.getvalue().rstrip("\r")
    line(Progress(note="path: resident, because"))
    assert stream.getvalue() == f"{shown}\r{' ' * len(shown)}\rpath: resident, because\n"


def test_in_a_log_lines_follow_one_another():
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(Progress(1, 1, 1, "path", 5))
    line(Progress(note="done"))
    line.clear()
    assert stream.getvalue().count("\n") == 2
    assert "\r" not in stream.getvalue()

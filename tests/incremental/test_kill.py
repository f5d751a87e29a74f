"""Processes that are killed while they write: a database is as before a transaction, or as after it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from tests.incremental.killed_writer import PROGRAM, edges_after

import flintlog as fl


def kill_at_random(folder: Path, seed: int, random: Random) -> None:
    """Starts a writer, kills it after a moment, and looks at what it left."""
    command = [sys.executable, "-m", "tests.incremental.killed_writer", str(folder), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n", writer.communicate()[1]
        time.sleep(random.uniform(0, 0.15))
        writer.kill()
        said = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    with fl.Database.open(folder, read_only=True) as database:
        committed = database.epoch
        if said:
            assert said[-1] <= committed <= said[-1] + 1
        assert set(database["edge"]) == edges_after(seed, committed)
        assert database.check() == []


def test_killed_writers_leave_a_whole_database(tmp_path: Path) -> None:
    fl.Database.create(tmp_path / "db", fl.Program(PROGRAM)).close()
    for seed in range(6):
        kill_at_random(tmp_path / "db", 7, Random(seed))


@pytest.mark.slow
def test_two_hundred_killed_writers(tmp_path: Path) -> None:
    fl.Database.create(tmp_path / "db", fl.Program(PROGRAM)).close()
    for seed in range(200):
        kill_at_random(tmp_path / "db", 8, Random(seed))
    with fl.Database.open(tmp_path / "db") as database:
        assert database.epoch > 200  # otherwise they were killed before they did anything

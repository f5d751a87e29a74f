"""The data sets of the benchmarks, for tests that need them. They are not in the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.facts import VARIABLE, Facts

ROOT = Path(__file__).parents[1]


def data_sets() -> Facts:
    """Where the environment says they are; skips the test where it says nothing. One that is missing there fails it."""
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} does not say where the data sets are")
    return Facts(Path(os.environ[VARIABLE]), ROOT / "build" / "bench-data")

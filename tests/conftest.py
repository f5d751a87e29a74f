"""Options of the test suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The fast lane tries the same cases every time, so that what passed yesterday passes today; the search for new ones is
# for the slow lane: HYPOTHESIS_PROFILE=search.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden messages of tests/errors anew")

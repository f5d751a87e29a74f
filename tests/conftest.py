"""Options of the test suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# The fast lane tries few cases, the same every time, so that what passed yesterday passes today; the search for new
# ones is for the slow lane: HYPOTHESIS_PROFILE=search.
settings.register_profile(
    "same", derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.sampled)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the golden messages of tests/errors anew")

"""What stands in which lane of the tests."""

from __future__ import annotations

import pytest


def sampled(is_in_sample: bool) -> list[pytest.MarkDecorator]:
    """Marks for a test that has many like it: the fast lane runs those of a sample, the slow lane all of them."""
    return [pytest.mark.sampled] if is_in_sample else [pytest.mark.sampled, pytest.mark.slow]

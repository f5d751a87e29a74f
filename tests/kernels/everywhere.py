"""A plugin for pytest: `pytest -p tests.kernels.everywhere FILE` runs the tests of a file over checked kernels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kernels.checked import checked_kernels


@pytest.fixture(autouse=True)
def checked_kernels_everywhere() -> Iterator[None]:
    with checked_kernels():
        yield

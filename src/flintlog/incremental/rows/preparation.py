"""The time that goes into plans, indexes and tables of positions, which later updates use again."""

from __future__ import annotations

import time


class Preparation:
    """A context for such work; `seconds` is the time of all of it."""

    def __init__(self) -> None:
        self.seconds = self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.seconds += time.perf_counter() - self._started

"""The time that goes into what later updates use again: plans, indexes, tables of places."""

from __future__ import annotations

import time


class Preparation:
    """A context in which such things are made; `seconds` is how long it took, all in all."""

    def __init__(self) -> None:
        self.seconds = self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.seconds += time.perf_counter() - self._started

"""Blocks of code that Ctrl-C does not interrupt."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class uninterrupted:  # noqa: N801 (it reads as a statement)
    """Delays an interrupt until the end of the block. Only the main thread of a process receives interrupts.

    A class, not a generator: if an interrupt strikes before a generator's `finally` block, Python runs that block when
    it frees the generator, in the middle of unrelated code.
    """

    def __enter__(self) -> None:
        self._handler = signal.getsignal(signal.SIGINT)
        self._caught: list[tuple[int, FrameType | None]] = []
        self._waits = threading.current_thread() is threading.main_thread() and callable(self._handler)
        if self._waits:
            signal.signal(signal.SIGINT, lambda number, frame: self._caught.append((number, frame)))

    def __exit__(self, *exc: object) -> None:
        if self._waits:
            signal.signal(signal.SIGINT, self._handler)
            if self._caught and callable(self._handler):
                self._handler(*self._caught[0])

"""Steps that an interrupt must not come between."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class uninterrupted:  # noqa: N801 (it reads as a statement)
    """Puts an interrupt off until the end of the block. Only the main thread of a process gets any.

    No generator: one that an interrupt keeps from its end goes on when Python lets go of it, whenever that is.
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

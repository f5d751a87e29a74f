"""A line that shows the progress of a long run."""

from __future__ import annotations

import time
from typing import TextIO

from flintlog.engines.protocol import Progress

PATIENCE = 1.0  # seconds before the first line
ON_TERMINAL, IN_LOG = 0.2, 2.0  # seconds between two lines


class ProgressLine:
    """Rewrites one line on a terminal; elsewhere writes a new line at intervals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._started = self._written = time.monotonic()
        self._rows = 0
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.note:  # stays, unlike the line below
            self.clear()
            self._stream.write(f"{progress.note}\n")
            self._stream.flush()
            return
        pause = ON_TERMINAL if self._terminal else IN_LOG
        if now - self._started < PATIENCE or now - self._written < pause:
            return
        speed = max(0, progress.rows - self._rows) / (now - self._written)
        self._written, self._rows = now, progress.rows
        new = f", {progress.delta:,} new" if progress.delta else ""
        self._write(
            f"stratum {progress.stratum}/{progress.strata}, round {progress.round}: "
            f"{progress.relation} has {progress.rows:,} rows{new} ({speed:,.0f} rows/s, {now - self._started:.0f} s)"
        )

    def _write(self, text: str) -> None:
        end = "\r" if self._terminal else "\n"
        self._stream.write(text.ljust(self._width) + end)
        self._stream.flush()
        self._width = len(text) if self._terminal else 0

    def clear(self) -> None:
        """Erases the line, so that results or errors can follow."""
        if self._width:
            self._stream.write(" " * self._width + "\r")
            self._width = 0

"""What is wrong with one file of data: the first problems in full, the others counted."""

from __future__ import annotations

from flintlog.diagnostics import Report
from flintlog.source import SourceFile, Span

SHOWN_PER_FILE = 10


class FileProblems:
    """Collects the problems of one file into a report. `close` says how many were left out."""

    def __init__(self, report: Report, name: str) -> None:
        self._report = report
        self._name = name
        self._count = 0
        self._next: Span | None = None

    @property
    def any(self) -> bool:
        return self._count > 0

    def add(
        self,
        code: str,
        message: str,
        excerpt: str,
        first_line: int,
        start: int = 0,
        end: int | None = None,
        *,
        note: str | None = None,
    ) -> None:
        """A problem at [start, end) of `excerpt`, text of the file that begins at line `first_line`."""
        self._count += 1
        if self._count > SHOWN_PER_FILE + 1:
            return
        span = Span(SourceFile(self._name, excerpt, first_line), start, len(excerpt) if end is None else end)
        if self._count > SHOWN_PER_FILE:
            self._next = span
        else:
            self._report.error(code, message, span, note=note)

    def close(self) -> None:
        if self._next is not None:
            more = self._count - SHOWN_PER_FILE
            plural = "problem" if more == 1 else "problems"
            self._report.error("E719", f"and {more} more {plural} in `{self._name}`, the next one here", self._next)

"""Limits how many rows the reference engine looks at before the kernels take over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flintlog.types import Row


class MeterExceeded(Exception):
    """More rows than the meter allows."""


class Meter:
    """Counts rows.

    >>> list(Meter(3).rows([(1,), (2,)]))
    [(1,), (2,)]
    """

    def __init__(self, allowed: int) -> None:
        self.left = allowed

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, counted as they pass."""
        for row in rows:
            self.count(1)
            yield row

    def count(self, rows: int) -> None:
        self.left -= rows
        if self.left < 0:
            raise MeterExceeded

"""Room for recursion: a program may nest expressions deeply (`x + x + …` is a tree), and every stage walks trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

LIMIT = 20_000


class _Limit:
    """Python has one limit for all threads: it stays raised until the last of them is done."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._users, self._before = 0, 0

    def begin(self) -> None:
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, LIMIT))
            self._users += 1

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.setrecursionlimit(self._before)


_limit = _Limit()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raises Python's recursion limit for a while.

    >>> before = sys.getrecursionlimit()
    >>> with deep_recursion():
    ...     sys.getrecursionlimit() >= LIMIT
    True
    >>> sys.getrecursionlimit() == before
    True
    """
    _limit.begin()
    try:
        yield
    finally:
        _limit.end()

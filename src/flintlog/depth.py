"""Room for recursion: a program may nest expressions deeply (`x + x + …` is a tree), and every stage walks trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

LIMIT = 20_000


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
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

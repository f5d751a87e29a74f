"""Names for columns and relations that passes add."""

from __future__ import annotations

from collections.abc import Container


def fresh_name(name: str, taken: set[str]) -> str:
    """The name itself if it is free, else one made from it that no source program can contain; it is taken now.

    >>> taken = {"x", "x$1"}
    >>> fresh_name("x", taken), fresh_name("y", taken)
    ('x$2', 'y')
    """
    fresh = unused_name(name, taken)
    taken.add(fresh)
    return fresh


def unused_name(name: str, taken: Container[str]) -> str:
    """As `fresh_name`, but the name stays free."""
    written = name.partition("$")[0]
    number = 0
    while name in taken:
        number += 1
        name = f"{written}${number}"
    return name

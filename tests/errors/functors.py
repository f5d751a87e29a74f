"""The functors of the wrong programs in this folder."""

from __future__ import annotations


def fold_max(x: int, y: int) -> int:
    return max(x, y)


def reciprocal(x: int) -> int:
    return 1 // x


def name_of(x: int) -> int:
    return x


def halve(x: int) -> int:
    return x // 2

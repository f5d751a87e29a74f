"""How much memory a run may take, and the message when it wants more."""

from __future__ import annotations

import os
import sys

from flintlog.diagnostics import Diagnostic, FlintlogError

# Below this a request is not worth looking up how much is in use.
WORTH_CHECKING = 8 << 20


class MemoryGuard:
    """Refuses to grow beyond a limit in bytes. None: 80 % of what the machine has."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit if limit is not None else total_memory() * 4 // 5

    def request(self, size: int, relation: str) -> None:
        """Raises if a relation's growth by that many bytes would go beyond the limit."""
        if size >= WORTH_CHECKING and used_memory() + size > self.limit:
            what = f"the relation `{relation}`" if relation else "an intermediate result"
            raise FlintlogError(
                [
                    Diagnostic(
                        "E803",
                        f"{what} grows beyond the memory limit of {in_words(self.limit)}",
                        note="--memory-limit sets another limit; does a rule make more rows than it should?",
                    )
                ]
            )


def used_memory() -> int:
    """The bytes of this process that are in memory now."""
    try:
        with open("/proc/self/statm", "rb") as statm:  # noqa: PTH123 - a path object here costs more than the reading
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def total_memory() -> int:
    """The machine's memory, or the part of it this process may have."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        with open("/sys/fs/cgroup/memory.max", "rb") as maximum:  # noqa: PTH123
            return min(total, int(maximum.read()))
    except (OSError, ValueError):
        return total


def in_words(size: int) -> str:
    """
    >>> in_words(3 << 30), in_words(1500)
    ('3.0 GiB', '1.5 KiB')
    """
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.1f} {unit}"


def parse_size(text: str) -> int:
    """Bytes of `500M`, `2G`, `1.5GiB` or a plain number.

    >>> parse_size("2G"), parse_size("1.5 MiB"), parse_size("100")
    (2147483648, 1572864, 100)
    """
    units = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
    stripped = text.strip().upper().removesuffix("IB").removesuffix("B").strip()
    number = stripped.rstrip("KMGT").strip()
    unit = stripped[len(number) :].strip()
    try:
        size = int(float(number) * (1 << units[unit]))
    except (KeyError, ValueError, OverflowError):
        size = 0
    if size <= 0:
        note = "write it as 500M, 2G or 1.5GiB"
        raise FlintlogError([Diagnostic("E910", f"`{text}` is not an amount of memory", note=note)])
    return size

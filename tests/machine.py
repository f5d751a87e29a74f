"""How slow the machine is now, for tests that limit the time something takes."""

from __future__ import annotations

from time import process_time

_USUAL = 0.05  # seconds of one core of the machines that the limits were set on


def slowness() -> float:
    """How many times longer than on those machines a plain loop takes now; 1 where it takes no longer."""
    best = float("inf")
    for _ in range(3):
        start = process_time()
        sum(range(3_000_000))
        best = min(best, process_time() - start)
    return max(1.0, best / _USUAL)

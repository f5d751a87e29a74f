"""The memory that checked kernels may touch: the blocks and arrays whose addresses Python has asked for."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

_FEW_REGIONS = 1 << 8
_HELD = 2  # references to an owner that only a region holds, when they are counted


class BadAccess(AssertionError):
    """A kernel touched memory that is not its own, or left what 64 bits can do."""


@dataclass(eq=False, slots=True)
class Region:
    """The bytes from `start` to `end`, until Python has no more use for their owner, or the owner moves. The region
    holds the owner, so that nothing else gets its memory soon; numpy moves no array that has weak references."""

    start: int
    end: int
    is_writable: bool
    owner: Any
    seen: int = -1  # the last call of a kernel that has found the owner there

    def __str__(self) -> str:
        kind = f"freed or moved {type(self.owner).__name__}" if self.is_gone() else type(self.owner).__name__
        return f"{kind} of {self.end - self.start} bytes at {self.start:#x}"

    def is_gone(self) -> bool:
        return sys.getrefcount(self.owner) <= _HELD or _span(self.owner) != (self.start, self.end)


class Memory:
    """Regions in the order of their addresses. No two overlap: an owner that is gone makes way for the next."""

    def __init__(self) -> None:
        self._regions = [Region(0, 0, False, self)]  # of no bytes, so that every address has a region before it
        self._starts = [0]
        self._sweep_at = _FEW_REGIONS
        self.calls = 0

    def register(self, words: Any) -> None:
        """Lets kernels touch the array, and all of the array that it is a part of."""
        owner = words
        while isinstance(owner, np.ndarray) and isinstance(owner.base, np.ndarray):
            owner = owner.base
        start, end = _span(owner)
        if start == end:
            return
        last = bisect_right(self._starts, start)
        first = last - (self._regions[last - 1].end > start)
        while last < len(self._starts) and self._starts[last] < end:
            last += 1
        for region in self._regions[first:last]:
            if region.owner is owner and (region.start, region.end) == (start, end):
                return
            assert region.is_gone(), f"two owners of one memory: {region} and {owner!r}"
        self._starts[first:last] = [start]
        is_writable = not isinstance(owner, np.ndarray) or bool(owner.flags.writeable)
        self._regions[first:last] = [Region(start, end, is_writable, owner)]
        if len(self._regions) > self._sweep_at:
            self._sweep()

    def _sweep(self) -> None:
        self._regions[1:] = [region for region in self._regions[1:] if not region.is_gone()]
        self._starts[1:] = [region.start for region in self._regions[1:]]
        self._sweep_at = max(_FEW_REGIONS, 2 * len(self._regions))

    def check(self, address: int, size: int, writes: bool) -> None:
        """Raises if a kernel must not touch so many bytes."""
        region = self._regions[bisect_right(self._starts, address) - 1]
        if address + size > region.end:
            raise BadAccess(f"{_access(size, writes)} {self._where(address)}")
        if region.seen != self.calls:
            if region.is_gone():
                raise BadAccess(f"{_access(size, writes)} at {address:#x}, in a {region}")
            region.seen = self.calls
        if address & (size - 1):
            raise BadAccess(f"{_access(size, writes)} at {address:#x} is not aligned, in a {region}")
        if writes and not region.is_writable:
            raise BadAccess(f"{_access(size, writes)} at {address:#x}, in a read-only {region}")

    def _where(self, address: int) -> str:
        place = bisect_right(self._starts, address)
        near = [region for region in self._regions[place - 1 : place + 1] if region.end]
        if not near:
            return f"at {address:#x}, and there is no block"
        nearest = min(near, key=lambda region: max(region.start - address, address - region.end))
        if nearest.start <= address < nearest.end:
            where = "across the end of"
        elif address >= nearest.end:
            where = f"{address - nearest.end} bytes behind"
        else:
            where = f"{nearest.start - address} bytes before"
        return f"at {address:#x}, {where} the nearest block: a {nearest}"


def _access(size: int, writes: bool) -> str:
    return f"{'store' if writes else 'load'} of {size} bytes"


def _span(owner: Any) -> tuple[int, int]:
    if isinstance(owner, array):
        start, length = owner.buffer_info()
        return start, start + owner.itemsize * length
    assert owner.flags.forc, "an owner with gaps"
    start = owner.__array_interface__["data"][0]
    return start, start + owner.nbytes

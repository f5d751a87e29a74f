"""Several narrow columns in one 63-bit key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.int64]
Range: TypeAlias = tuple[int, int]

KEY_BITS = 62
SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Packing:
    """Where each column stands in the key: its smallest value, its width and its shift. The first column has the
    highest bits, so that keys sort as rows do."""

    lows: tuple[int, ...]
    widths: tuple[int, ...]

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        shifts, total = [], 0
        for width in reversed(self.widths):
            shifts.append(total)
            total += width
        return tuple(reversed(shifts))

    @property
    def bits(self) -> int:
        return sum(self.widths)

    def bits_for(self, ranges: Sequence[Range]) -> tuple[int, int]:
        """If every key has one bit, up to the highest of these ranges: how many there are for each combination of the
        columns before the last, in whole words, and in all."""
        stride = -(-(ranges[-1][1] - self.lows[-1] + 1) // 64) * 64
        highs = zip(ranges, self.lows, self.shifts, strict=True)
        highest = sum((high - low) << shift for (_, high), low, shift in highs) >> self.widths[-1]
        return stride, (highest + 1) * stride

    def ranges(self) -> list[Range]:
        return [(low, low + (1 << width) - 1) for low, width in zip(self.lows, self.widths, strict=True)]

    def covers(self, ranges: Sequence[Range]) -> bool:
        return all(a <= low and high <= b for (low, high), (a, b) in zip(ranges, self.ranges(), strict=True))

    def part(self, position: int, column: Array) -> Array:
        """What a column contributes to the key; its values must be in range."""
        return (column - self.lows[position]) << self.shifts[position]

    def pack(self, columns: Sequence[Array]) -> Array:
        """The keys of rows, all of whose values are in range."""
        if len(columns) == 1 and self.lows[0] == 0:
            return columns[0]
        key = self.part(0, columns[0])
        for position in range(1, len(columns)):
            key = key | self.part(position, columns[position])
        return key

    def pack_or_miss(self, columns: Sequence[Array]) -> Array:
        """The keys of rows; -1 where a value is out of range, so that no row can have it."""
        inside = None
        for column, (low, high) in zip(columns, self.ranges(), strict=True):
            fits = (column >= low) & (column <= high)
            inside = fits if inside is None else inside & fits
        assert inside is not None
        if inside.all():
            return self.pack(columns)
        return np.where(inside, self.pack(columns), -1)

    def unpack(self, keys: Array, position: int) -> Array:
        if len(self.widths) == 1:
            return keys + self.lows[0]
        mask = (1 << self.widths[position]) - 1
        return ((keys >> self.shifts[position]) & mask) + self.lows[position]


def packing_for(ranges: Sequence[Range], spare_bits: int = 1) -> Packing | None:
    """A packing for columns of these ranges, with some room to grow where there is any; None if 62 bits do not do."""
    for spare in range(spare_bits, -1, -1):
        widths = tuple(max(1, (high - low).bit_length()) + spare for low, high in ranges)
        if sum(widths) <= KEY_BITS:
            # A range that begins just above zero begins at zero: it mostly does.
            lows = tuple(
                0 if low >= 0 and high < 1 << width else low for (low, high), width in zip(ranges, widths, strict=True)
            )
            return Packing(lows, widths)
    return None


def range_of(column: Array) -> Range:
    """The smallest and the largest value; of no values, zero and zero."""
    return (int(column.min()), int(column.max())) if column.size else (0, 0)


def joined(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


def stretched(known: Range, value: int) -> Range:
    """The range with the value in it; beyond the side it grew on, as much again."""
    low, high = known
    span = max(high - low, 1)
    if value > high:
        return low, min(max(value, high + span), LARGEST)
    if value < low:
        return max(min(value, low - span), SMALLEST), high
    return known


def as_word(number: int) -> int:
    """A number below 2**64 as the signed word of the same bits."""
    return number - (1 << 64) if number > LARGEST else number

"""Machine words: the ranges of numbers, wrap-around, and single precision when words have 32 bits."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cached_property

from flintlog.types import NAN, NEGATIVE_NAN, Kind


@dataclass(frozen=True)
class Words:
    """Arithmetic on words of `size` bits.

    >>> Words(32).signed(2**31)
    -2147483648
    >>> Words(32).unsigned(-1)
    4294967295
    """

    size: int = 64

    @cached_property
    def _mask(self) -> int:
        return (1 << self.size) - 1

    @cached_property
    def _sign(self) -> int:
        return 1 << (self.size - 1)

    def signed(self, value: int) -> int:
        return ((value + self._sign) & self._mask) - self._sign

    def unsigned(self, value: int) -> int:
        return value & self._mask

    def real(self, value: float) -> float:
        """Rounds to single precision if words have 32 bits; too large becomes infinite. Every NaN becomes one and the
        same object, so that rows with it are equal, as their words are."""
        if value != value:
            return NEGATIVE_NAN  # processors set the sign of the NaN they compute
        if self.size == 64:
            return value
        try:
            return float(struct.unpack("f", struct.pack("f", value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")

    def truncated(self, value: float, kind: Kind) -> int:
        """The integer part, and what a processor of the usual make gives where it does not fit."""
        low = -self._sign
        if kind is Kind.NUMBER:
            return int(value) if low - 1 < value < -low else low
        if abs(value) < 1 << 63:
            return int(value) & self._mask
        if self.size == 32 or value >= 1 << 64:
            return 0
        return int(value) if value > 0 else 1 << 63

    def fits(self, value: int, kind: Kind) -> bool:
        if kind is Kind.UNSIGNED:
            return 0 <= value <= self._mask
        return -self._sign <= value < self._sign

    def bits_of_real(self, value: float) -> int:
        """The word that holds a float, as a signed number."""
        code, size = ("<d", "<q") if self.size == 64 else ("<f", "<i")
        return int(struct.unpack(size, struct.pack(code, value))[0])

    def real_of_bits(self, word: int) -> float:
        code, size = ("<d", "<q") if self.size == 64 else ("<f", "<i")
        value = float(struct.unpack(code, struct.pack(size, self.signed(word)))[0])
        if value != value:
            return NEGATIVE_NAN if math.copysign(1, value) < 0 else NAN
        return value

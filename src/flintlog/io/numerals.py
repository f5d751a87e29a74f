"""Numbers as text: what C++'s stoi, stoul and stof read and what its streams print, so that fact files mean what they
mean to Soufflé."""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING

from flintlog.types import NAN, NEGATIVE_NAN, Kind, ScalarType

if TYPE_CHECKING:
    from fractions import Fraction

_SIGNED = re.compile(r"[ \t-\r]*([+-]?[0-9]+)")
_UNSIGNED = re.compile(r"[ \t-\r]*(\+?[0-9]+)")
_PREFIXED = {"0x": (16, re.compile(r"0x([0-9a-fA-F]+)")), "0b": (2, re.compile(r"0b([01]+)"))}
_FLOAT = re.compile(
    r"[ \t-\r]*([+-]?(?:"
    r"inf(?:inity)?|(?P<nan>nan(?:\([0-9a-z_]*\))?)"
    r"|(?P<hex>0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?))",
    re.IGNORECASE | re.ASCII,
)
# No number of this many digits is in range, and Python refuses to convert very long ones.
_MOST_DIGITS = 4000


class ValueTextError(ValueError):
    """Text that is no value of the type asked for. `offset` and `length` say where in the text the trouble is."""

    def __init__(self, message: str, offset: int = 0, length: int = 1, *, out_of_range: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.length = length
        self.out_of_range = out_of_range


def integer_bounds(scalar: ScalarType, word_size: int) -> tuple[int, int]:
    """The least and greatest value of an integer type: a sized type is never wider than a word.

    >>> integer_bounds(ScalarType("int8", Kind.NUMBER, 8), 64)
    (-128, 127)
    """
    bits = min(scalar.bits or word_size, word_size)
    if scalar.kind is Kind.UNSIGNED:
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def is_single(scalar: ScalarType, word_size: int) -> bool:
    """Are the values of this float type single precision?"""
    return min(scalar.bits or word_size, word_size) == 32


def scan_integer(
    text: str, start: int, scalar: ScalarType, word_size: int, *, prefixes: bool = False
) -> tuple[int, int]:
    """The integer that begins at `start`, after white space, and where it ends. `prefixes` lets an unsigned number be
    written as 0x1f or 0b101, which Soufflé allows in columns but not inside records."""
    unsigned = scalar.kind is Kind.UNSIGNED
    base = 10
    match = (_UNSIGNED if unsigned else _SIGNED).match(text, start)
    if prefixes and unsigned and (special := _PREFIXED.get(text[start : start + 2])):
        base, match = special[0], special[1].match(text, start)
    if match is None:
        raise ValueTextError(_not_an_integer(text, start, scalar), start, max(1, len(text) - start))
    low, high = integer_bounds(scalar, word_size)
    digits = match[1]
    value = int(digits, base) if len(digits) < _MOST_DIGITS else high + 1
    if not low <= value <= high:
        message = f"{digits[:40]} is out of range for `{scalar.name}`: it must lie between {low} and {high}"
        raise ValueTextError(message, match.start(1), len(digits), out_of_range=True)
    return value, match.end()


def _not_an_integer(text: str, start: int, scalar: ScalarType) -> str:
    rest = text[start:].strip()
    if not rest:
        return f"a value of type `{scalar.name}` is missing"
    if scalar.kind is Kind.UNSIGNED and rest.startswith("-"):
        return f"`{scalar.name}` is never negative"
    return f"`{rest[:40]}` is not a value of type `{scalar.name}`"


def scan_float(text: str, start: int, scalar: ScalarType, word_size: int) -> tuple[float, int]:
    """The floating-point number that begins at `start`, after white space, and where it ends."""
    match = _FLOAT.match(text, start)
    if match is None:
        rest = text[start:].strip()
        message = f"`{rest[:40]}` is not a value of type `{scalar.name}`" if rest else f"a `{scalar.name}` is missing"
        raise ValueTextError(message, start, max(1, len(text) - start))
    digits = match[1]
    if match["nan"]:
        return NEGATIVE_NAN if digits[0] == "-" else NAN, match.end()
    value = _nearest(digits, bool(match["hex"]), is_single(scalar, word_size))
    if value is None:
        message = f"{digits[:40]} is out of range for `{scalar.name}`"
        raise ValueTextError(message, match.start(1), len(digits), out_of_range=True)
    return value, match.end()


def _nearest(digits: str, is_hex: bool, single: bool) -> float | None:
    """The float nearest to a numeral, or None where it is too large, or so small that digits are lost."""
    try:
        value = float.fromhex(digits) if is_hex else float(digits)
        if single:
            value = _to_single(value, digits, is_hex)
    except OverflowError:
        return None
    if math.isinf(value):
        return value if "n" in digits.lower() else None
    least = 2.0**-126 if single else 2.0**-1022
    return None if abs(value) < least and value != _exact(digits, is_hex) else value


def _to_single(value: float, digits: str, is_hex: bool) -> float:
    """Single precision, rounded once: going through double could round a numeral next to a midpoint the wrong way."""
    nearest = round_to_single(value)
    if nearest == value or math.isinf(value):
        return nearest
    other = _neighbour(nearest, value > nearest)
    if abs(value - nearest) != abs(other - value):
        return nearest
    exact = _exact(digits, is_hex)
    low, high = sorted((nearest, other))
    return nearest if exact == value else (high if exact > value else low)


def round_to_single(value: float) -> float:
    """OverflowError where single precision cannot hold it.

    >>> round_to_single(0.1)
    0.10000000149011612
    """
    # With "f" instead of "<f", which does the same on any machine of today, a number too large would become infinite.
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def _neighbour(single: float, upward: bool) -> float:
    bits: int = struct.unpack("i", struct.pack("f", single))[0]
    if single == 0.0:
        bits = 1 if upward else -(1 << 31) + 1
    else:
        bits += 1 if (single > 0) == upward else -1
    neighbour: float = struct.unpack("f", struct.pack("i", bits))[0]
    # Past the greatest single, rounding works as if the next power of two were there.
    return math.copysign(2.0**128, neighbour) if math.isinf(neighbour) else neighbour


def _exact(digits: str, is_hex: bool) -> Fraction:
    from fractions import Fraction  # with decimal behind it, dear at start-up, and rarely needed

    if is_hex:
        return Fraction(float.fromhex(digits))
    mantissa, _, exponent = digits.lower().partition("e")
    if len(exponent) > 8 or abs(int(exponent or 0)) > _MOST_DIGITS:
        # Too far off to expand: what matters is only whether the numeral is zero.
        return Fraction(0) if Fraction(mantissa) == 0 else Fraction(1, 10**_MOST_DIGITS)
    return Fraction(digits)


def print_float(value: float, digits: int) -> str:
    """As a C++ stream of that precision prints it.

    >>> print_float(0.1, 17), print_float(1e20, 17), print_float(float("-inf"), 9)
    ('0.10000000000000001', '1e+20', '-inf')
    """
    if value != value:
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:.{digits}g}"


def print_digits(scalar: ScalarType, word_size: int) -> int:
    """How many digits bring every value of this float type back."""
    return 9 if is_single(scalar, word_size) else 17

"""Numeric literals as values of a kind and word size."""

from __future__ import annotations

import math
import struct

from flintlog.types import Kind

_SMALLEST = {32: 2.0**-126, 64: 2.0**-1022}


def literal_value(text: str, kind: Kind, word_size: int) -> int | float | None:
    """The value of a literal as written (`12`, `-0x1f`, `0b101`, `1.5`), None when the kind cannot hold it.

    Hexadecimal and binary literals are plain numbers; they do not fill bit patterns.

    >>> literal_value("0xffffffff", Kind.UNSIGNED, 32)
    4294967295
    >>> literal_value("0xffffffff", Kind.NUMBER, 32) is None
    True
    """
    if kind is Kind.FLOAT:
        return _float_value(text, word_size)
    value = _integer_value(text)
    if value is None:
        return None
    if kind is Kind.UNSIGNED:
        return value if not text.startswith("-") and value < 1 << word_size else None
    half = 1 << (word_size - 1)
    return value if -half <= value < half else None


def _integer_value(text: str) -> int | None:
    digits = text.removeprefix("-")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    digits = digits[2:] if base != 10 else digits
    # int() takes more than a literal may be: signs, blanks and underscores inside.
    if not digits.isalnum() or not digits.isascii():
        return None
    try:
        value = int(digits, base)
    except ValueError:
        return None
    return -value if text.startswith("-") else value


def _float_value(text: str, word_size: int) -> float | None:
    digits = text.removeprefix("-")
    try:
        value = float.fromhex(digits) if digits.startswith("0x") else float(digits)
        rounded: float = struct.unpack("f", struct.pack("f", value))[0] if word_size == 32 else value
    except (ValueError, OverflowError):
        return None
    if math.isinf(rounded) or 0 < abs(value) < _SMALLEST[word_size]:
        return None
    return -rounded if text.startswith("-") else rounded

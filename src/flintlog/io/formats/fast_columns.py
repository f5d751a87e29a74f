"""Whole columns of plain values at once: the way that millions of rows take.

Python's int and float take more than C's do (underscores, other scripts' digits, white space), so a column is first
checked to hold nothing but plain ASCII numerals. Whatever is not plainly right is None, and the careful way decides.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from math import isfinite

from flintlog.io.numerals import integer_bounds, is_single
from flintlog.io.parameters import Dialect
from flintlog.io.schema import Schema
from flintlog.types import Kind, Row, ScalarType, Value

Converter = Callable[[Sequence[str]], "Sequence[Value] | None"]


def converters(schema: Schema) -> list[Converter] | None:
    """One per column, or None where a column holds records or branches."""
    found: list[Converter] = []
    for column in schema.columns:
        scalar = schema.scalar_of(column)
        if scalar is None:
            return None
        found.append(_converter(scalar, schema.word_size))
    return found


def convert(lines: Sequence[str], dialect: Dialect, found: Sequence[Converter]) -> tuple[list[Row], bool] | None:
    """The rows of these lines, and whether the lines have more columns than are used."""
    texts = _split(lines, dialect.delimiter)
    if texts is None or len(texts) <= max(dialect.picks):
        return None
    values = []
    for pick, converter in zip(dialect.picks, found, strict=True):
        column = converter(texts[pick])
        if column is None:
            return None
        values.append(column)
    return list(zip(*values, strict=True)), len(texts) > max(dialect.picks) + 1


def _split(lines: Sequence[str], delimiter: str) -> list[Sequence[str]] | None:
    """The columns of lines that all have equally many, None of others."""
    counts = set(map(str.count, lines, repeat(delimiter)))
    if len(counts) != 1:
        return None
    width = counts.pop() + 1
    if len(delimiter) > 1:
        # What ends one line could form a delimiter with what begins the next.
        return list(zip(*(line.split(delimiter) for line in lines), strict=True))
    # One long list instead of a list a line: a million small lists keep the garbage collector busy.
    fields = delimiter.join(lines).split(delimiter)
    return [fields[place::width] for place in range(width)]


def _converter(scalar: ScalarType, word_size: int) -> Converter:
    if scalar.kind is Kind.SYMBOL:
        return _symbols
    if scalar.kind is Kind.FLOAT:
        return _singles if is_single(scalar, word_size) else _doubles
    low, high = integer_bounds(scalar, word_size)
    allowed = b"0123456789" if scalar.kind is Kind.UNSIGNED else b"0123456789-"

    def integers(texts: Sequence[str]) -> Sequence[Value] | None:
        if not _consists_of(texts, allowed):
            return None
        try:
            numbers = list(map(int, texts))
        except ValueError:
            return None
        return numbers if low <= min(numbers) and max(numbers) <= high else None

    return integers


def _symbols(texts: Sequence[str]) -> Sequence[Value]:
    return texts


def _doubles(texts: Sequence[str]) -> list[float] | None:
    if not _consists_of(texts, b"0123456789+-.eE"):
        return None
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return None
    # Infinity here is an overflow, and tiny numbers may have lost digits.
    return numbers if all(map(isfinite, numbers)) and not _any_below(numbers, 2.0**-1022) else None


def _singles(texts: Sequence[str]) -> list[float] | None:
    doubles = _doubles(texts)
    if doubles is None or _any_between_singles(doubles):
        return None
    singles = array("f", doubles).tolist()
    return singles if all(map(isfinite, singles)) and not _any_below(doubles, 2.0**-126) else None


def _any_between_singles(doubles: list[float]) -> bool:
    """Is one exactly half-way between two singles? Which of them is nearer to its numeral then needs a closer look."""
    return any(bits & 0x1FFFFFFF == 0x10000000 for bits in array("Q", array("d", doubles).tobytes()))


def _any_below(numbers: Sequence[float], least: float) -> bool:
    return any(number < least for number in map(abs, numbers) if number)


def _consists_of(texts: Sequence[str], allowed: bytes) -> bool:
    joined = "".join(texts)
    return joined.isascii() and not joined.encode("ascii").translate(None, allowed)

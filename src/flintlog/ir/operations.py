"""The meaning of every built-in operation on Python values, with Soufflé's corner cases.

`implement` gives a plain function for an operation on operands of given kinds. What a program does wrong at run time
(division by zero, `to_number("x")`) raises EvaluationError; what is merely odd (a bad pattern, `substr` out of range)
goes to `notify`, and the operation has the value Soufflé gives it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from typing import Any

from flintlog.ir.regex import matches
from flintlog.ir.words import Words
from flintlog.types import NAN, NEGATIVE_NAN, Kind

Function = Callable[..., Any]
Notify = Callable[[str], None]

_RESULT_KINDS: dict[str, Kind] = {
    "ord": Kind.NUMBER,
    "strlen": Kind.NUMBER,
    "cat": Kind.SYMBOL,
    "substr": Kind.SYMBOL,
    "to_string": Kind.SYMBOL,
    "to_number": Kind.NUMBER,
    "to_unsigned": Kind.UNSIGNED,
    "to_float": Kind.FLOAT,
    "itou": Kind.UNSIGNED,
    "ftou": Kind.UNSIGNED,
    "utoi": Kind.NUMBER,
    "ftoi": Kind.NUMBER,
    "itof": Kind.FLOAT,
    "utof": Kind.FLOAT,
}


class EvaluationError(Exception):
    """The program asked for a value that does not exist. `note` says how to mend that."""

    def __init__(self, message: str, note: str | None = None) -> None:
        super().__init__(message)
        self.note = note


def result_kind(op: str, kinds: tuple[Kind, ...]) -> Kind:
    """The kind of an operation's value: its own for conversions, that of the operands for the rest.

    >>> result_kind("strlen", (Kind.SYMBOL,)), result_kind("+", (Kind.FLOAT, Kind.FLOAT))
    (Kind.NUMBER, Kind.FLOAT)
    """
    return _RESULT_KINDS.get(op) or kinds[0]


def implement(op: str, kinds: tuple[Kind, ...], words: Words, notify: Notify) -> Function:
    """The function for an operation. `ord` is not among them: it depends on an engine's symbol table."""
    if op == "cat":
        return lambda *texts: "".join(texts)
    if op in ("min", "max"):
        extreme = _extreme(op, kinds[0])
        return lambda *values: extreme(values)
    kind = kinds[0]
    if op in _CONVERSIONS:
        return _conversion(_CONVERSIONS[op], kind, words)
    if op == "strlen":
        return _byte_length
    if op == "substr":
        return lambda text, start, length: _substring(text, start, length, notify)
    if kind is Kind.FLOAT:
        return _float_operation(op, words)
    if kind is Kind.SYMBOL:
        return {"+": lambda a, b: a + b}[op]
    return _integer_operation(op, kind, words)


def compare(op: str, kind: Kind, notify: Notify) -> Callable[[Any, Any], bool]:
    """The function for a comparison operator."""
    match op:
        case "match" | "not_match":
            wanted = op == "match"
            return lambda pattern, text: _matches(pattern, text, wanted, notify)
        case "contains":
            return lambda part, text: part in text
        case "not_contains":
            return lambda part, text: part not in text
        case _:
            return _COMPARISONS[op]


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def range_values(bounds: tuple[Any, ...], kind: Kind, words: Words) -> Iterable[Any]:
    """The values of `range(from, to[, step])`: up to but without `to`; downwards if `to` is smaller and no step is
    given (unsigned numbers have no way down); `from` alone for a step of zero.

    >>> list(range_values((1, 4), Kind.NUMBER, Words())), list(range_values((4, 1), Kind.NUMBER, Words()))
    ([1, 2, 3], [4, 3, 2])
    """
    start, stop = bounds[0], bounds[1]
    if len(bounds) == 3:
        step = bounds[2]
    elif kind is Kind.UNSIGNED:
        step = 1
    else:
        step = 1 if start <= stop else -1
    if step == 0:
        return [start] if start != stop else []
    if kind is not Kind.FLOAT:
        return range(start, stop, step)
    return _float_range(start, stop, step, words)


def _float_range(value: float, stop: float, step: float, words: Words) -> Iterator[float]:
    while value < stop if step > 0 else value > stop:
        yield value
        value = words.real(value + step)


# --- Arithmetic -----------------------------------------------------------------------------------


def _integer_operation(op: str, kind: Kind, words: Words) -> Function:
    wrap = words.signed if kind is Kind.NUMBER else words.unsigned
    shift_mask = words.size - 1
    functions: dict[str, Function] = {
        "+": lambda a, b: wrap(a + b),
        "-": lambda a, b: wrap(a - b),
        "*": lambda a, b: wrap(a * b),
        "/": lambda a, b: wrap(_quotient(a, b)),
        "%": lambda a, b: wrap(_remainder(a, b)),
        # Soufflé computes the power of integers in floating point.
        "^": lambda a, b: words.truncated(_float_power(a, b), kind),
        "neg": lambda a: wrap(-a),
        "band": lambda a, b: wrap(a & b),
        "bor": lambda a, b: wrap(a | b),
        "bxor": lambda a, b: wrap(a ^ b),
        "bnot": lambda a: wrap(~a),
        "bshl": lambda a, b: wrap(a << (b & shift_mask)),
        "bshr": lambda a, b: a >> (b & shift_mask),
        "bshru": lambda a, b: wrap(words.unsigned(a) >> (b & shift_mask)),
        "land": lambda a, b: int(a != 0 and b != 0),
        "lor": lambda a, b: int(a != 0 or b != 0),
        "lxor": lambda a, b: int((a != 0) != (b != 0)),
        "lnot": lambda a: int(a == 0),
    }
    return functions[op]


def _quotient(a: int, b: int) -> int:
    """Division towards zero."""
    if b == 0:
        raise EvaluationError("division by zero", "test for it in the same rule, as in `x / y, y != 0`")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    """The remainder of division towards zero; it has the sign of `a`."""
    if b == 0:
        raise EvaluationError("remainder of a division by zero", "test for it in the same rule, as in `x % y, y != 0`")
    return a - b * _quotient(a, b)


def _float_operation(op: str, words: Words) -> Function:
    functions: dict[str, Function] = {
        "+": lambda a, b: words.real(a + b),
        "-": lambda a, b: words.real(a - b),
        "*": lambda a, b: words.real(a * b),
        "/": lambda a, b: words.real(_float_quotient(a, b)),
        "^": lambda a, b: words.real(_float_power(a, b)),
        "neg": _opposite,
    }
    return functions[op]


def _opposite(a: float) -> float:
    """Also of NaN, whose sign shows; there are two of them, not one for every time it is computed."""
    if a == a:
        return -a
    return NAN if a is NEGATIVE_NAN else NEGATIVE_NAN


def _float_quotient(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def _float_power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan


def _extreme(op: str, kind: Kind) -> Function:
    """The least or the greatest of some values."""
    best = min if op == "min" else max
    return partial(best, key=_place) if kind is Kind.FLOAT else best


def _place(value: float) -> tuple[bool, float, float]:
    """Where a float stands among all: -0.0 is below 0.0, and NaN, which compares with nothing, above everything."""
    odd = value != value
    return odd, 0.0 if odd else value, math.copysign(1.0, value)


# --- Text -----------------------------------------------------------------------------------------


def _byte_length(text: str) -> int:
    """Soufflé counts bytes of UTF-8, not characters."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _substring(text: str, start: int, length: int, notify: Notify) -> str:
    size = _byte_length(text)
    if not 0 <= start <= size:
        notify(f'substr("{text}", {start}, {length}): the text has no position {start}; the result is ""')
        return ""
    end = size if length < 0 else min(size, start + length)
    if text.isascii():
        return text[start:end]
    return text.encode("utf-8", "surrogateescape")[start:end].decode("utf-8", "surrogateescape")


def _matches(pattern: str, text: str, wanted: bool, notify: Notify) -> bool:
    found = matches(pattern, text)
    if found is None:
        notify(f'match: "{pattern}" is not a regular expression; the constraint does not hold')
    return found is wanted


# --- Conversions ----------------------------------------------------------------------------------

_CONVERSIONS: dict[str, Kind] = {
    op: kind for op, kind in _RESULT_KINDS.items() if op not in ("ord", "strlen", "cat", "substr")
}

_INTEGER = re.compile(r"\s*[+-]?\d+", re.ASCII)
_HEXADECIMAL = re.compile(r"\s*[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_REAL = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.ASCII | re.IGNORECASE)


def _conversion(target: Kind, kind: Kind, words: Words) -> Function:
    if target is kind:
        return lambda value: value
    if target is Kind.SYMBOL:
        return _float_text if kind is Kind.FLOAT else str
    if kind is Kind.SYMBOL:
        return lambda text: _number_of(text, target, words)
    if target is Kind.FLOAT:
        return lambda value: words.real(float(value))
    if kind is Kind.FLOAT:
        return lambda value: words.truncated(value, target)
    return words.signed if target is Kind.NUMBER else words.unsigned


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    return f"{value:f}"


def _number_of(text: str, target: Kind, words: Words) -> int | float:
    """The number a text starts with, as C's own conversions read it."""
    if target is Kind.FLOAT:
        if found := _HEXADECIMAL.match(text):
            return words.real(float.fromhex(found[0].strip()))
        if found := _REAL.match(text):
            return words.real(float(found[0]))
    elif (found := _INTEGER.match(text)) and words.fits(value := int(found[0]), target):
        return value
    note = 'keep only texts that are numbers, as in `match("-?[0-9]+", x)`'
    raise EvaluationError(f'"{text}" is not a {target.value}', note)


# --- Folds ----------------------------------------------------------------------------------------


def fold_values(op: str, values: list[Any], kind: Kind, words: Words) -> Any:
    """count, sum, min, max or mean of a group's values. Floats are added in ascending order, so that a sum does not
    depend on the order of rows; for the same reason all of them have places: see `_place`."""
    match op:
        case "count":
            return len(values)
        case "min" | "max":
            return _extreme(op, kind)(values)
        case "sum" if kind is not Kind.FLOAT:
            return (words.signed if kind is Kind.NUMBER else words.unsigned)(sum(values))
        case "sum":
            return reduce(lambda a, b: words.real(a + b), sorted(values), 0.0)
        case _:
            total = reduce(lambda a, b: words.real(a + b), sorted(values), 0.0)
            return words.real(total / len(values))

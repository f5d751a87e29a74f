"""Values that a caller hands over in Python, as the engines want them."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, isinf
from typing import Any

from flintlog.io import ValueTextError, parse_value
from flintlog.io.numerals import integer_bounds, is_single, round_to_single
from flintlog.types import NAN, NEGATIVE_NAN, Adt, AdtType, Field, Kind, ScalarType, TypeTable, Value

Converter = Callable[[Any], Value]


class NotAValue(ValueError):
    """A value of another type than the one asked for. The message goes on after “row 7 for `r` ”."""


def converter(type_name: str, types: TypeTable, word_size: int) -> Converter:
    """The conversion to a type, with the look-ups done once. Scalars of numpy and its kin become Python's own, and
    text in the place of a record or branch is read as in a facts file. NotAValue where a value does not fit."""
    definition = types[type_name]
    if not isinstance(definition, ScalarType):
        return lambda value: _nested(value, type_name, types, word_size)
    if definition.kind is Kind.SYMBOL:
        return lambda value: _symbol(value, type_name)
    if definition.kind is Kind.FLOAT:
        single = is_single(definition, word_size)
        return lambda value: _float(value, type_name, single)
    low, high = integer_bounds(definition, word_size)
    return lambda value: _integer(value, type_name, low, high)


def need_no_conversion(rows: Sequence[Any], columns: Sequence[Field], types: TypeTable, word_size: int) -> bool:
    """Whether rows are tuples of Python's own numbers and texts, and each fits its column. Seen by columns, that takes
    a small part of the time that values take one by one; where it is not so, they tell what is wrong."""
    if set(map(type, rows)) != {tuple} or set(map(len, rows)) != {len(columns)}:
        return False
    by_column = zip(*rows, strict=True)
    return all(_all_fit(values, types[c.type], word_size) for c, values in zip(columns, by_column, strict=True))


def _all_fit(values: Sequence[Any], definition: object, word_size: int) -> bool:
    if not isinstance(definition, ScalarType) or definition.kind is Kind.FLOAT:
        return False
    if definition.kind is Kind.SYMBOL:
        return set(map(type, values)) == {str}
    low, high = integer_bounds(definition, word_size)
    return set(map(type, values)) == {int} and low <= min(values) and max(values) <= high


def plain(value: Any) -> Any:
    """A scalar of numpy as Python's own."""
    return value.item() if hasattr(value, "item") and hasattr(value, "dtype") else value


def _wrong(value: Any, type_name: str) -> NotAValue:
    return NotAValue(f"has {reprlib.repr(value)}, which is not a {type_name}")


def _out_of_range(value: Any, type_name: str) -> NotAValue:
    return NotAValue(f"has {reprlib.repr(value)}, which is out of range for {type_name}")


def _symbol(value: Any, type_name: str) -> str:
    if not isinstance(value, str):
        raise _wrong(value, type_name)
    return value if type(value) is str else str(value)


def _integer(value: Any, type_name: str, low: int, high: int) -> int:
    if type(value) is not int:
        value = plain(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(value, type_name)
        value = int(value)
    if not low <= value <= high:
        raise _out_of_range(value, type_name)
    return int(value)


def _float(value: Any, type_name: str, single: bool) -> float:
    value = plain(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(value, type_name)
    if value != value:
        return NEGATIVE_NAN if copysign(1.0, value) < 0 else NAN
    try:
        number = float(value)
        return round_to_single(number) if single and not isinf(number) else number
    except OverflowError:
        raise _out_of_range(value, type_name) from None


@dataclass(slots=True)
class _Unfinished:
    """A record or branch some of whose parts are still to be converted."""

    branch: str | None
    fields: Sequence[Field]
    given: Sequence[Any]
    done: list[Value] = field(default_factory=list)

    def next(self) -> tuple[Any, str]:
        return self.given[len(self.done)], self.fields[len(self.done)].type

    def finished(self) -> Value:
        values = tuple(self.done)
        return values if self.branch is None else Adt(self.branch, values)


def _nested(value: Any, type_name: str, types: TypeTable, word_size: int) -> Value:
    """Without recursion: records nest as deep as programs make them."""
    outer: list[_Unfinished] = []
    while True:
        found = _begin(value, type_name, types, word_size)
        if isinstance(found, _Unfinished):
            outer.append(found)
            if found.fields:
                value, type_name = found.next()
                continue
            found = outer.pop().finished()
        while outer:
            inner = outer[-1]
            inner.done.append(found)
            if len(inner.done) < len(inner.fields):
                value, type_name = inner.next()
                break
            found = outer.pop().finished()
        else:
            return found


def _begin(value: Any, type_name: str, types: TypeTable, word_size: int) -> Value | _Unfinished:
    definition = types[type_name]
    if isinstance(definition, ScalarType):
        return converter(type_name, types, word_size)(value)
    if isinstance(value, str):
        return _from_text(value, type_name, types, word_size)
    if isinstance(definition, AdtType):
        branch = definition.branch(value.branch) if isinstance(value, Adt) else None
        if branch is None or not isinstance(value.args, tuple | list) or len(value.args) != len(branch.fields):
            raise _wrong(value, type_name)
        return _Unfinished(branch.name, branch.fields, value.args)
    if value is None:
        return None
    if isinstance(value, Mapping) and value.keys() == {place.name for place in definition.fields}:
        value = [value[place.name] for place in definition.fields]
    if isinstance(value, Adt) or not isinstance(value, tuple | list):
        raise _wrong(value, type_name)
    if len(value) != len(definition.fields):
        raise NotAValue(f"has {reprlib.repr(value)}; a {definition.name} has {len(definition.fields)} fields")
    return _Unfinished(None, definition.fields, value)


def _from_text(value: str, type_name: str, types: TypeTable, word_size: int) -> Value:
    try:
        return parse_value(value, type_name, types, word_size)
    except ValueTextError as error:
        raise NotAValue(f"has {reprlib.repr(value)}, which is not a {type_name}: {error.message}") from None

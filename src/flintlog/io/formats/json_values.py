"""From what JSON can say to the values of a type."""

from __future__ import annotations

from math import copysign
from typing import Any

from flintlog.io.numerals import ValueTextError, integer_bounds, is_single, round_to_single, scan_float
from flintlog.io.schema import Schema
from flintlog.types import NAN, NEGATIVE_NAN, Adt, AdtType, Field, Kind, RecordType, ScalarType, Value


def value_from_json(item: Any, type_name: str, schema: Schema) -> Value:
    """ValueTextError, without a place, where `item` is no value of the type."""
    definition = schema.types[type_name]
    if isinstance(definition, ScalarType):
        return _scalar(item, definition, schema.word_size)
    if isinstance(definition, RecordType):
        return None if item is None else _fields(item, definition.fields, definition.name, schema)
    return _branch(item, definition, schema)


def _scalar(item: Any, scalar: ScalarType, word_size: int) -> Value:
    if scalar.kind is Kind.SYMBOL:
        if isinstance(item, str):
            return item
    elif scalar.kind is Kind.FLOAT:
        return float_value(item, scalar, word_size)
    elif isinstance(item, int | float) and not isinstance(item, bool):
        return integer_value(item, scalar, word_size)
    raise _wrong(item, scalar.name)


def integer_value(item: int | float, scalar: ScalarType, word_size: int) -> int:
    """A whole number in the range of the type."""
    if isinstance(item, float):
        if not item.is_integer():
            raise _wrong(item, scalar.name)
        item = int(item)
    low, high = integer_bounds(scalar, word_size)
    if not low <= item <= high:
        message = f"{item} is out of range for `{scalar.name}`: it must lie between {low} and {high}"
        raise ValueTextError(message, out_of_range=True)
    return item


def float_value(item: Any, scalar: ScalarType, word_size: int) -> float:
    """A number, or a string such as "inf" that spells one."""
    if isinstance(item, str):
        value, end = scan_float(item, 0, scalar, word_size)
        if end == len(item):
            return value
        raise _wrong(item, scalar.name)
    if not isinstance(item, int | float) or isinstance(item, bool):
        raise _wrong(item, scalar.name)
    if item != item:
        return NEGATIVE_NAN if copysign(1.0, item) < 0 else NAN
    try:
        return round_to_single(item) if is_single(scalar, word_size) else float(item)
    except OverflowError as error:
        raise ValueTextError(f"{item} is out of range for `{scalar.name}`", out_of_range=True) from error


def _fields(item: Any, fields: tuple[Field, ...], type_name: str, schema: Schema) -> tuple[Value, ...]:
    if isinstance(item, dict):
        if item.keys() != {place.name for place in fields}:
            wanted = ", ".join(f"`{place.name}`" for place in fields)
            raise ValueTextError(f"an object of type `{type_name}` needs the keys {wanted}")
        item = [item[place.name] for place in fields]
    if not isinstance(item, list):
        raise _wrong(item, type_name)
    if len(item) != len(fields):
        raise ValueTextError(f"`{type_name}` has {len(fields)} fields, not {len(item)}")
    return tuple(value_from_json(value, place.type, schema) for value, place in zip(item, fields, strict=True))


def _branch(item: Any, definition: AdtType, schema: Schema) -> Adt:
    if not isinstance(item, dict) or len(item) != 1:
        raise _wrong(item, definition.name)
    [(key, args)] = item.items()
    branch = definition.branch(key[1:]) if key.startswith("$") else None
    if branch is None:
        raise ValueTextError(f"`{definition.name}` has no branch `{key}`")
    return Adt(branch.name, _fields(args, branch.fields, branch.name, schema))


def _wrong(item: Any, type_name: str) -> ValueTextError:
    return ValueTextError(f"`{str(item)[:40]}` is not a value of type `{type_name}`")

"""The types of values, and how values look at run time.

| kind     | Python value                                             |
|----------|----------------------------------------------------------|
| NUMBER   | int, in the signed range of the word size                |
| UNSIGNED | int, in the unsigned range of the word size              |
| FLOAT    | float (rounded to single precision when words are 32 bit)|
| SYMBOL   | str                                                      |
| RECORD   | tuple of the fields, or None for nil                     |
| ADT      | Adt(branch, args)                                        |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias


class Kind(Enum):
    """What a value is made of; every type, however it is named, has one."""

    NUMBER = "number"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    SYMBOL = "symbol"
    RECORD = "record"
    ADT = "adt"

    @property
    def is_numeric(self) -> bool:
        return self in (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT)

    def __repr__(self) -> str:
        return f"Kind.{self.name}"


class Adt(NamedTuple):
    """A value of an algebraic data type."""

    branch: str
    args: tuple[Value, ...]

    # A record with the same parts is another value.
    def __eq__(self, other: object) -> bool:
        return type(other) is Adt and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


# A set finds a NaN again only if it is the very same object, so each of the two has one, which everybody uses.
NAN = math.nan
NEGATIVE_NAN = math.copysign(math.nan, -1)

Value: TypeAlias = int | float | str | None | tuple["Value", ...] | Adt
Row: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True)
class Field:
    """A named, typed place: a column, a field of a record, an argument of a branch. `type` is a key of a TypeTable."""

    name: str
    type: str


@dataclass(frozen=True)
class ScalarType:
    """A primitive type, or a subset, alias or union that comes down to one. `bits` is set for FlowLog's sized types."""

    name: str
    kind: Kind
    bits: int | None = None


@dataclass(frozen=True)
class RecordType:
    name: str
    fields: tuple[Field, ...]
    kind: Kind = Kind.RECORD


@dataclass(frozen=True)
class Branch:
    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class AdtType:
    name: str
    branches: tuple[Branch, ...]
    kind: Kind = Kind.ADT

    def branch(self, name: str) -> Branch | None:
        return next((b for b in self.branches if b.name == name), None)


Type: TypeAlias = ScalarType | RecordType | AdtType

# Type names to their definitions, aliases resolved: an alias of a record maps to the record's own definition.
TypeTable: TypeAlias = Mapping[str, Type]

PRIMITIVES: dict[str, ScalarType] = {
    kind.value: ScalarType(kind.value, kind) for kind in (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL)
}

# FlowLog's names. A program that declares a type of the same name means its own.
FLOWLOG_TYPES: dict[str, ScalarType] = {
    **{f"int{bits}": ScalarType(f"int{bits}", Kind.NUMBER, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": ScalarType(f"uint{bits}", Kind.UNSIGNED, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": ScalarType(f"float{bits}", Kind.FLOAT, bits) for bits in (32, 64)},
    "string": ScalarType("string", Kind.SYMBOL),
}

"""Scalar expressions and conditions over the columns of a row. Each expression knows the kind of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from flintlog.types import Kind, Value


@dataclass(frozen=True, slots=True)
class Column:
    """The value of a column of the current row, by name: `x`."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A constant: `1`, `2u`, `1.5`, `"text"`, `nil`. Records and branches are built by their own nodes. Two are equal
    if they stand for the same word: 0.0 and -0.0 do not.

    >>> Const(0.0, Kind.FLOAT) == Const(-0.0, Kind.FLOAT), Const(1, Kind.NUMBER) == Const(1, Kind.NUMBER)
    (False, True)
    """

    value: Value
    kind: Kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Kind, object]:
        return self.kind, repr(self.value) if self.kind is Kind.FLOAT else self.value


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in operation by its source name, resolved by the kinds of its arguments: `(x + 1)`, `cat(a, b)`.
    ir.functors gives each one's meaning."""

    op: str
    args: tuple[Scalar, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class UserCall:
    """A function the user wrote: `@f(x)`."""

    name: str
    args: tuple[Scalar, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class MakeRecord:
    """`[a, b]`"""

    args: tuple[Scalar, ...]

    @property
    def kind(self) -> Kind:
        return Kind.RECORD


@dataclass(frozen=True, slots=True)
class MakeBranch:
    """`$Branch(a, b)`"""

    branch: str
    args: tuple[Scalar, ...]

    @property
    def kind(self) -> Kind:
        return Kind.ADT


@dataclass(frozen=True, slots=True)
class Part:
    """Field `index` of a record that is not nil, or argument `index` of a branch: `part(r, 0)`."""

    arg: Scalar
    index: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Reinterpret:
    """`as(x, …)`: the same machine word under another kind."""

    arg: Scalar
    kind: Kind


@dataclass(frozen=True, slots=True)
class Counter:
    """`autoinc()`: 0, 1, 2, … over the whole run."""

    @property
    def kind(self) -> Kind:
        return Kind.NUMBER


@dataclass(frozen=True, slots=True)
class Round:
    """`round()`: the number of the current round of the stratum's fixpoint, from 0."""

    @property
    def kind(self) -> Kind:
        return Kind.UNSIGNED


Scalar: TypeAlias = Column | Const | Call | UserCall | MakeRecord | MakeBranch | Part | Reinterpret | Counter | Round


@dataclass(frozen=True, slots=True)
class Compare:
    """`op` is one of = != < <= > >= match not_match contains not_contains; both sides have one kind."""

    op: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class IsRecord:
    """The record is not nil."""

    arg: Scalar


@dataclass(frozen=True, slots=True)
class IsBranch:
    """The value was built by this branch."""

    arg: Scalar
    branch: str


@dataclass(frozen=True, slots=True)
class Never:
    """Holds for no row."""


Condition: TypeAlias = Compare | IsRecord | IsBranch | Never

OPPOSITE: dict[str, str] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "match": "not_match",
    "not_match": "match",
    "contains": "not_contains",
    "not_contains": "contains",
}

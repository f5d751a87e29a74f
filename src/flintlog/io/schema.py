"""A relation as the formats see it: its name and its typed columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flintlog.io.text_values import value_parser, value_printer
from flintlog.types import Field, Kind, ScalarType, Type, TypeTable, Value


def column_places(wanted: Sequence[str], names: Sequence[str]) -> list[int] | None:
    """Where columns stand among others that were found: by name, whatever the order; by name in small or capital
    letters; or, where no name fits, by position. None for names that fit in part: one of the ways would go wrong
    silently."""
    folded, found = [name.casefold() for name in wanted], [name.casefold() for name in names]
    for some, among in ((wanted, names), (folded, found)):
        if all(among.count(name) == 1 for name in some) and len(set(some)) == len(some):
            return [among.index(name) for name in some]
    by_position = len(found) == len(folded) and not set(found) & set(folded)
    return list(range(len(wanted))) if by_position else None


@dataclass(frozen=True)
class Schema:
    """`name` is what the relation is called outside of the program."""

    name: str
    columns: Sequence[Field]
    types: TypeTable
    word_size: int

    def type_of(self, column: Field) -> Type:
        return self.types[column.type]

    def scalar_of(self, column: Field) -> ScalarType | None:
        """The column's type, unless it holds records or branches."""
        definition = self.types[column.type]
        return definition if isinstance(definition, ScalarType) else None

    def kinds(self) -> list[Kind]:
        return [self.types[column.type].kind for column in self.columns]

    def places_in(self, names: Sequence[str]) -> list[int] | None:
        """Where the relation's columns stand among columns that were found, as `column_places` has it."""
        return column_places([column.name for column in self.columns], names)

    def parser(self, column: Field) -> Callable[[str], Value]:
        return value_parser(column.type, self.types, self.word_size)

    def printer(self, column: Field, nested_symbol: Callable[[str], str] = str) -> Callable[[Value], str]:
        return value_printer(column.type, self.types, self.word_size, nested_symbol)

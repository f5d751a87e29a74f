"""Prints a program's type definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flintlog.ir.text.spelling import spell_name
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, AdtType, Field, Kind, RecordType, Type, TypeTable

# Types that need no definition.
STANDARD_TYPES: TypeTable = {**PRIMITIVES, **FLOWLOG_TYPES}


def type_lines(types: TypeTable) -> Iterator[str]:
    """A line for each type that is not a standard one, and first, if the table leaves out standard ones, a line that
    names those it has."""
    standard = [name for name, definition in types.items() if STANDARD_TYPES.get(name) == definition]
    if not STANDARD_TYPES.keys() <= types.keys():
        yield f"types {', '.join(standard)}".rstrip()
    for name, definition in types.items():
        if name not in standard:
            yield f"type {spell_name(name)}{_definition(name, definition, types)}"


def _definition(name: str, definition: Type, types: TypeTable) -> str:
    own_name = definition.name
    if own_name != name and types.get(own_name) == definition:
        return f" = {spell_name(own_name)}"
    named = "" if own_name == name else f" named {spell_name(own_name)}"
    match definition:
        case RecordType():
            return f"{named} = [{print_fields(definition.fields)}]"
        case AdtType():
            branches = (f"{spell_name(b.name)} {{{print_fields(b.fields)}}}" for b in definition.branches)
            return f"{named} = {' | '.join(branches)}"
        case _:
            bits = "" if definition.bits is None else f" bits {definition.bits}"
            return f"{named}: {definition.kind.value}{bits}"


def print_fields(fields: Sequence[Field]) -> str:
    """`x: Id, y: number`"""
    return ", ".join(f"{spell_name(field.name)}: {spell_name(field.type)}" for field in fields)


def kind_of_type(name: str, types: TypeTable) -> Kind | None:
    """The kind of a type's values. The standard types count as known even where the table leaves them out."""
    definition = types.get(name) or STANDARD_TYPES.get(name)
    return definition.kind if definition else None

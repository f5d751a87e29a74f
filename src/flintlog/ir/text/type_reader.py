"""Reads a program's type definitions."""

from __future__ import annotations

from collections.abc import Iterable

from flintlog.diagnostics import did_you_mean
from flintlog.ir.text.cursor import Cursor, fail
from flintlog.ir.text.lines import Line
from flintlog.ir.text.tokens import Token
from flintlog.ir.text.type_printer import STANDARD_TYPES
from flintlog.types import AdtType, Branch, Field, RecordType, ScalarType, Type, TypeTable


def read_types(lines: Iterable[Line]) -> TypeTable:
    """The table that lines `type …` and `types …` describe. It has all standard types if no line `types …` names
    those it has. An alias may stand before the type it means."""
    standard = STANDARD_TYPES
    defined: dict[str, Type | Token] = {}
    for line in lines:
        cursor = Cursor(line)
        if cursor.advance().text == "types":
            standard = _read_standard(cursor)
        else:
            name = cursor.name()
            defined[name] = _read_definition(cursor, name)
        cursor.end()
    table: dict[str, Type] = {**standard, **{n: d for n, d in defined.items() if not isinstance(d, Token)}}
    return {**standard, **{n: _resolve(d, table) if isinstance(d, Token) else d for n, d in defined.items()}}


def _read_standard(cursor: Cursor) -> TypeTable:
    def entry() -> tuple[str, Type]:
        definition = _resolve(cursor.token, STANDARD_TYPES)
        return cursor.name(), definition

    return dict(cursor.series(entry)) if cursor.at_name() else {}


def _resolve(name: Token, table: TypeTable) -> Type:
    if name.text not in table:
        fail("E959", f"no type `{name.text}` is known", name.span, did_you_mean(name.text, table))
    return table[name.text]


def _read_definition(cursor: Cursor, name: str) -> Type | Token:
    """What follows a type's name; for an alias, the token that names the type it means."""
    own_name = cursor.name() if cursor.accept("named") else name
    if cursor.accept(":"):
        kind = cursor.kind()
        return ScalarType(own_name, kind, cursor.integer() if cursor.accept("bits") else None)
    cursor.expect("=")
    if cursor.at("["):
        return RecordType(own_name, cursor.enclosed("[", lambda: read_field(cursor), "]"))
    first = cursor.token
    branch = cursor.name()
    if not cursor.at("{"):
        return first
    branches = [_read_branch(cursor, branch)]
    while cursor.accept("|"):
        branches.append(_read_branch(cursor, cursor.name()))
    return AdtType(own_name, tuple(branches))


def _read_branch(cursor: Cursor, name: str) -> Branch:
    return Branch(name, cursor.enclosed("{", lambda: read_field(cursor), "}"))


def read_field(cursor: Cursor) -> Field:
    """`x: Id`"""
    name = cursor.name()
    cursor.expect(":")
    return Field(name, cursor.name())

"""Reads a program's functions, relations and directives, each on a line of its own."""

from __future__ import annotations

from flintlog.ir.program import NEW, OLD, IoDirective, Relation, UserFunction
from flintlog.ir.scalar import Scalar
from flintlog.ir.text.cursor import Cursor, fail
from flintlog.ir.text.scalar_reader import read_column, read_scalar
from flintlog.ir.text.type_printer import kind_of_type
from flintlog.ir.text.type_reader import read_field
from flintlog.types import Field, Kind, TypeTable


def read_function(cursor: Cursor) -> UserFunction:
    """`@half(number): number stateful`"""
    cursor.expect("@")
    name = cursor.name()
    params = cursor.enclosed("(", cursor.kind, ")")
    cursor.expect(":")
    return UserFunction(name, params, cursor.kind(), cursor.accept("stateful"), span=cursor.line)


def read_io(kind: str, cursor: Cursor) -> IoDirective:
    """`edge (IO="file")`"""
    relation = cursor.name()
    params = cursor.enclosed("(", lambda: _read_param(cursor), ")") if cursor.at("(") else ()
    return IoDirective(kind, relation, params, cursor.line)


def _read_param(cursor: Cursor) -> tuple[str, str]:
    key = cursor.name()
    cursor.expect("=")
    return key, cursor.text()


def read_relation(cursor: Cursor, types: TypeTable) -> Relation:
    """`cc(x: number, l: number) merge l = min(old, new) limit 100 eqrel choice (x), (x, l) qualifiers magic`, where
    what follows the columns may come in any order."""
    name = cursor.name()
    columns = cursor.enclosed("(", lambda: _read_typed(cursor, types), ")")
    scope = {column.name: kind for column, kind in columns}
    merge: dict[str, Scalar] = {}
    limit: int | None = None
    delta_of: str | None = None
    representation = ""
    choice: tuple[tuple[int, ...], ...] = ()
    qualifiers: frozenset[str] = frozenset()
    while cursor.at_name():
        if cursor.accept("merge"):
            merge = dict(cursor.series(lambda: _read_merge(cursor, scope)))
        elif cursor.accept("limit"):
            limit = cursor.integer()
        elif cursor.accept("delta"):
            delta_of = cursor.name()
        elif cursor.accept("choice"):
            choice = cursor.series(lambda: cursor.enclosed("(", lambda: _read_position(cursor, scope), ")"))
        elif cursor.accept("qualifiers"):
            qualifiers = frozenset(cursor.series(cursor.name))
        else:
            representation = cursor.name()
    fields = tuple(column for column, _ in columns)
    kinds = tuple(kind for _, kind in columns)
    merges = tuple(merge.get(column.name) for column in fields) if merge else ()
    return Relation(name, fields, kinds, representation, qualifiers, choice, merges, limit, delta_of, cursor.line)


def _read_typed(cursor: Cursor, types: TypeTable) -> tuple[Field, Kind]:
    place = cursor.token.span
    column = read_field(cursor)
    kind = cursor.kind() if cursor.accept("as") else kind_of_type(column.type, types)
    if kind is None:
        note = f"define it (`type {column.type}: number`), or write the kind after it (`as number`)"
        fail("E959", f"no type `{column.type}` is known", place, note)
    return column, kind


def _read_merge(cursor: Cursor, scope: dict[str, Kind]) -> tuple[str, Scalar]:
    column = read_column(cursor.token, scope)
    cursor.name()
    cursor.expect("=")
    return column.name, read_scalar(cursor, {OLD: column.kind, NEW: column.kind})


def _read_position(cursor: Cursor, scope: dict[str, Kind]) -> int:
    column = read_column(cursor.token, scope)
    cursor.name()
    return list(scope).index(column.name)

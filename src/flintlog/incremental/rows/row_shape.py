"""The shape of a relation's rows: which values they can have."""

from __future__ import annotations

from flintlog.ir.program import Program
from flintlog.types import AdtType, RecordType, ScalarType


def row_shape(program: Program, name: str) -> object:
    """The kinds of a relation's columns, and the records and branches that they are made of: equal for two versions of
    a program if either can have the other's rows.

    >>> from flintlog.compiler import compile_source
    >>> from flintlog.source import SourceFile
    >>> def shape_with(text):
    ...     text = f".type P = [x: number, t: T] .decl r(p: P, n: number) .type {text}"
    ...     return row_shape(compile_source(SourceFile("r", text)).program, "r")
    >>> shape_with("T = [y: number]") == shape_with("T = [y: number] .type U <: symbol")
    True
    >>> shape_with("T = [y: number]") == shape_with("T = [y: symbol]")
    False
    """
    definitions = [program.types[column.type] for column in program.relations[name].columns]
    parts: dict[str, RecordType | AdtType] = {}
    shape, waiting = [], definitions
    while waiting:
        found = waiting
        waiting = []
        for definition in found:
            shape.append((definition.kind, definition.bits if isinstance(definition, ScalarType) else definition.name))
            if not isinstance(definition, ScalarType) and definition.name not in parts:
                parts[definition.name] = definition
                waiting += [program.types[type] for type in _types_within(definition)]
    return shape, parts


def _types_within(definition: RecordType | AdtType) -> list[str]:
    if isinstance(definition, RecordType):
        return [field.type for field in definition.fields]
    return [field.type for branch in definition.branches for field in branch.fields]

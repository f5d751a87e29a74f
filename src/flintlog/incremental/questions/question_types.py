"""The types of a question's variables, inferred from the relations and records in which they occur."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flintlog.check.checked import CheckedProgram
from flintlog.syntax import ast
from flintlog.types import AdtType, Field, RecordType, TypeTable


@dataclass(frozen=True)
class Types:
    """The names of the column types of each relation, also of inline relations, and the definitions of the types."""

    columns: Mapping[str, Sequence[str]]
    table: TypeTable


def types_of(program: CheckedProgram) -> Types:
    columns = {name: [a.type for a in relation.attributes] for name, relation in program.relations.items()}
    return Types(columns, program.types)


def declared_types(body: ast.Body, types: Types) -> dict[str, str]:
    """The types of variables that are arguments of atoms, parts of records or branches there, or equal to these."""
    found: dict[str, str] = {}
    for part in _parts(body):
        if isinstance(part, ast.Atom):
            for argument, type in zip(part.args, types.columns.get(part.name, ()), strict=False):
                _enter(argument, type, types.table, found)
    equations = [part for part in _parts(body) if isinstance(part, ast.Constraint) and part.op == "="]
    known = -1
    while known < len(found):
        known = len(found)
        for equation in equations:
            for one, other in ((equation.left, equation.right), (equation.right, equation.left)):
                if isinstance(one, ast.Variable) and one.name in found:
                    _enter(other, found[one.name], types.table, found)
    return found


def _enter(argument: ast.Argument, type: str, table: TypeTable, found: dict[str, str]) -> None:
    """Adds the variables of an argument of type `type` to `found`."""
    fields: Sequence[Field] = ()
    match argument, table.get(type):
        case ast.Variable(name), _:
            found.setdefault(name, type)
        case ast.RecordInit(), RecordType(fields=fields):
            pass
        case ast.BranchInit(branch), AdtType() as declared:
            branches = [each for each in declared.branches if each.name == branch]
            fields = branches[0].fields if branches else ()
    if isinstance(argument, ast.RecordInit | ast.BranchInit):
        for part, field in zip(argument.args, fields, strict=False):
            _enter(part, field.type, table, found)


def _parts(body: ast.Body) -> Iterator[ast.Body]:
    """The atoms and constraints that bind variables: neither negated ones nor those of aggregates."""
    match body:
        case ast.Conjunction(items) | ast.Disjunction(items):
            for item in items:
                yield from _parts(item)
        case ast.Atom() | ast.Constraint():
            yield body

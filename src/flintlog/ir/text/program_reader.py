"""Reads whole programs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from flintlog.ir.nodes import Node
from flintlog.ir.program import IoDirective, Program, Relation, Rule, Stratum, Subsumption, UserFunction
from flintlog.ir.text.cursor import Cursor, fail
from flintlog.ir.text.declaration_reader import read_function, read_io, read_relation
from flintlog.ir.text.lines import Line, read_lines
from flintlog.ir.text.node_reader import read_body
from flintlog.ir.text.type_reader import read_types
from flintlog.types import TypeTable


@dataclass
class _Draft:
    """What was read so far."""

    types: TypeTable
    functions: dict[str, UserFunction] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    io: list[IoDirective] = field(default_factory=list)
    strata: list[Stratum] = field(default_factory=list)
    shared: dict[int, Node] = field(default_factory=dict)


def parse_program(text: str, name: str = "<ir>") -> Program:
    """The program a text describes; `name` is the file that messages show.

    The text must be well formed, and its expressions may name only columns in scope. All else is for `verify`.
    """
    lines = read_lines(text, name)
    # Types come first, wherever they stand: the columns of relations take their kinds from them.
    draft = _Draft(read_types(line for line in lines if line.word in ("type", "types")))
    for line in lines:
        cursor = Cursor(line)
        word = cursor.advance()
        reader = _READERS.get(word.text) if word.form == "name" else None
        if reader is None:
            fail("E957", f"`{word.text}` starts no part of a program", word.span, f"parts are {', '.join(_READERS)}")
        reader(draft, line, cursor)
    return Program(draft.types, draft.relations, tuple(draft.strata), tuple(draft.io), draft.functions, draft.shared)


def _skip_type(draft: _Draft, line: Line, cursor: Cursor) -> None:
    _end_without_lines(line)


def _add_function(draft: _Draft, line: Line, cursor: Cursor) -> None:
    function = read_function(cursor)
    cursor.end()
    _end_without_lines(line)
    _refuse_second(function.name, draft.functions, cursor)
    draft.functions[function.name] = function


def _add_relation(draft: _Draft, line: Line, cursor: Cursor) -> None:
    relation = read_relation(cursor, draft.types)
    cursor.end()
    _end_without_lines(line)
    _refuse_second(relation.name, draft.relations, cursor)
    draft.relations[relation.name] = relation


def _add_io(draft: _Draft, line: Line, cursor: Cursor) -> None:
    draft.io.append(read_io(line.word, cursor))
    cursor.end()
    _end_without_lines(line)


def _add_shared(draft: _Draft, line: Line, cursor: Cursor) -> None:
    id = cursor.integer()
    cursor.end()
    _refuse_second(id, draft.shared, cursor)
    draft.shared[id] = read_body(line)


def _add_stratum(draft: _Draft, line: Line, cursor: Cursor) -> None:
    recursive = cursor.accept("recursive")
    relations = cursor.series(cursor.name) if cursor.at_name() else ()
    cursor.end()
    rules = [_read_rule(below) for below in line.below]
    draft.strata.append(
        Stratum(
            relations,
            recursive,
            tuple(rule for rule in rules if isinstance(rule, Rule)),
            tuple(rule for rule in rules if isinstance(rule, Subsumption)),
        )
    )


def _read_rule(line: Line) -> Rule | Subsumption:
    cursor = Cursor(line)
    subsumes = cursor.accept("subsume")
    if not subsumes:
        cursor.expect("rule")
    id, relation = cursor.integer(), cursor.name()
    plan = cursor.series(lambda: _read_plan(cursor)) if not subsumes and cursor.accept("plan") else ()
    cursor.end()
    body = read_body(line)
    return Subsumption(id, relation, body, line.span) if subsumes else Rule(id, relation, body, plan, line.span)


def _read_plan(cursor: Cursor) -> tuple[int, tuple[int, ...]]:
    version = cursor.integer()
    cursor.expect(":")
    return version, cursor.enclosed("(", cursor.integer, ")")


def _end_without_lines(line: Line) -> None:
    if line.below:
        fail("E956", f"expected nothing below `{line.word}`", line.below[0].span)


def _refuse_second(name: str | int, known: Collection[str] | Collection[int], cursor: Cursor) -> None:
    if name in known:
        fail("E960", f"`{name}` is there already", cursor.line)


_READERS: dict[str, Callable[[_Draft, Line, Cursor], None]] = {
    "type": _skip_type,
    "types": _skip_type,
    "function": _add_function,
    "relation": _add_relation,
    "input": _add_io,
    "output": _add_io,
    "printsize": _add_io,
    "stratum": _add_stratum,
    "shared": _add_shared,
}

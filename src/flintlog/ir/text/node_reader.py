"""Reads relational nodes. A node's inputs are read before its steps and outputs, whose expressions take the kinds of
columns from the inputs' schemas."""

from __future__ import annotations

from collections.abc import Callable

from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
    Fold,
    JoinFlatMap,
    Let,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Shared,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.scalar import Scalar
from flintlog.ir.text.cursor import Cursor, fail
from flintlog.ir.text.lines import Line, read_lines
from flintlog.ir.text.scalar_reader import Scope, read_column, read_condition, read_scalar, read_value
from flintlog.source import NOWHERE
from flintlog.types import Row


def parse_node(text: str, name: str = "<ir>") -> Node:
    """The tree a text describes; `name` is the file that messages show.

    >>> parse_node("scan edge(x: number)")
    Scan(relation='edge', schema=(Column(name='x', kind=Kind.NUMBER),))
    """
    lines = read_lines(text, name)
    if len(lines) != 1:
        place = lines[1].span if lines else NOWHERE
        fail("E956", f"expected one node, but the text has {len(lines)}", place)
    return read_node(lines[0])


def read_node(line: Line) -> Node:
    cursor = Cursor(line)
    word = cursor.advance()
    reader = _READERS.get(word.text) if word.form == "name" else None
    if reader is None:
        fail("E957", f"`{word.text}` is no node", word.span, f"nodes are {', '.join(_READERS)}")
    node = reader(line, cursor)
    cursor.end()
    return node


def read_body(line: Line) -> Node:
    """The one node below a line."""
    (node,) = _inputs(line, line.below, 1)
    return node


def _inputs(line: Line, below: list[Line], count: int) -> tuple[Node, ...]:
    if len(below) != count:
        what = {0: "nothing", 1: "one node"}.get(count, f"{count} nodes")
        place = below[count].span if len(below) > count else line.span
        fail("E956", f"expected {what} below `{line.word}`, but there {_amount(len(below))}", place)
    return tuple(map(read_node, below))


def _amount(count: int) -> str:
    return "is one" if count == 1 else f"are {count or 'none'}"


# --- Leaves ---------------------------------------------------------------------------------------


def _read_unit(line: Line, cursor: Cursor) -> Node:
    _inputs(line, line.below, 0)
    return Unit()


def _read_scan(line: Line, cursor: Cursor) -> Node:
    _inputs(line, line.below, 0)
    return Scan(cursor.name(), cursor.schema())


def _read_shared(line: Line, cursor: Cursor) -> Node:
    _inputs(line, line.below, 0)
    return Shared(cursor.integer(), cursor.schema())


def _read_values(line: Line, cursor: Cursor) -> Node:
    schema = cursor.schema()
    return Values(schema, tuple(_read_row(below, len(schema)) for below in line.below))


def _read_row(line: Line, width: int) -> Row:
    cursor = Cursor(line)
    cursor.expect("row")
    row = () if cursor.token.form == "end" else cursor.series(lambda: read_value(cursor))
    cursor.end()
    if len(row) != width:
        fail("E958", f"the row has {len(row)} values for {width} columns", line.span)
    return row


# --- Nodes with steps -----------------------------------------------------------------------------


def _read_map(line: Line, cursor: Cursor) -> Node:
    (source,) = _inputs(line, _input_lines(line), 1)
    steps, scope = _read_steps(line, _scope(source.schema))
    return FlatMap(source, steps, _read_output(cursor, scope))


def _read_join(line: Line, cursor: Cursor) -> Node:
    on = cursor.names()
    left, right = _inputs(line, _input_lines(line), 2)
    steps, scope = _read_steps(line, {**_scope(right.schema), **_scope(left.schema)})
    return JoinFlatMap(left, right, on, steps, _read_output(cursor, scope))


def _scope(schema: Schema) -> Scope:
    return {column.name: column.kind for column in schema}


def _input_lines(line: Line) -> list[Line]:
    return [below for below in line.below if below.word not in _STEPS]


def _read_steps(line: Line, scope: Scope) -> tuple[tuple[Step, ...], Scope]:
    """The steps below a line, and the columns in scope after the last."""
    steps: list[Step] = []
    for below in line.below:
        if below.word not in _STEPS:
            continue
        cursor = Cursor(below)
        step = _STEPS[cursor.advance().text](cursor, scope)
        cursor.end()
        steps.append(step)
        if not isinstance(step, Where):
            scope = {**scope, step.column.name: step.column.kind}
    return tuple(steps), scope


def _read_where(cursor: Cursor, scope: Scope) -> Step:
    return Where(read_condition(cursor, scope))


def _read_let(cursor: Cursor, scope: Scope) -> Step:
    column = cursor.column()
    cursor.expect("=")
    return Let(column, read_scalar(cursor, scope))


def _read_each(cursor: Cursor, scope: Scope) -> Step:
    column = cursor.column()
    cursor.expect("=")
    cursor.expect("range")
    return Each(column, cursor.enclosed("(", lambda: read_scalar(cursor, scope), ")"))


def _read_output(cursor: Cursor, scope: Scope) -> tuple[tuple[str, Scalar], ...]:
    """`(x, y = (x + 1))`: `x` alone is short for `x = x`."""

    def entry() -> tuple[str, Scalar]:
        column = cursor.token
        name = cursor.name()
        return name, read_scalar(cursor, scope) if cursor.accept("=") else read_column(column, scope)

    return cursor.enclosed("(", entry, ")")


# --- Nodes without --------------------------------------------------------------------------------


def _read_semijoin(line: Line, cursor: Cursor) -> Node:
    left, right = _inputs(line, line.below, 2)
    return SemiJoin(left, right, cursor.names())


def _read_antijoin(line: Line, cursor: Cursor) -> Node:
    left, right = _inputs(line, line.below, 2)
    return AntiJoin(left, right, cursor.names())


def _read_concat(line: Line, cursor: Cursor) -> Node:
    if not line.below:
        fail("E956", "expected a node or more below `concat`, but there are none", line.span)
    return ConcatAll(_inputs(line, line.below, len(line.below)))


def _read_aggregate(line: Line, cursor: Cursor) -> Node:
    keys = [read_body(below) for below in line.below if below.word == "keys"]
    (source,) = _inputs(line, [below for below in line.below if below.word != "keys"], 1)
    op = ("@" if cursor.accept("@") else "") + cursor.name()
    cursor.expect("by")
    by = cursor.names()
    cursor.expect("into")
    into = cursor.column()
    scope = _scope(source.schema)
    value = read_scalar(cursor, scope) if cursor.accept("of") else None
    init = read_scalar(cursor, scope) if cursor.accept("init") else None
    if len(keys) > 1:
        fail("E956", "`keys` stands twice below one aggregate", line.span)
    return Aggregate(source, by, into.name, Fold(op, value, into.kind, init), keys[0] if keys else None)


_READERS: dict[str, Callable[[Line, Cursor], Node]] = {
    "unit": _read_unit,
    "values": _read_values,
    "scan": _read_scan,
    "shared": _read_shared,
    "map": _read_map,
    "join": _read_join,
    "semijoin": _read_semijoin,
    "antijoin": _read_antijoin,
    "aggregate": _read_aggregate,
    "concat": _read_concat,
}

_STEPS: dict[str, Callable[[Cursor, Scope], Step]] = {"where": _read_where, "let": _read_let, "each": _read_each}

"""Prints relational nodes: a line for the node, below it its steps and its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    children,
)
from flintlog.ir.scalar import Column, Scalar
from flintlog.ir.text.scalar_printer import print_condition, print_scalar
from flintlog.ir.text.spelling import spell_name, spell_value

INDENT = "  "


def print_node(node: Node) -> str:
    """The text of a tree.

    >>> from flintlog.types import Kind
    >>> x, y, z = (Column(name, Kind.NUMBER) for name in "xyz")
    >>> print(print_node(JoinFlatMap(Scan("e", (x, y)), Scan("p", (y, z)), ("y",), (), (("x", x), ("to", z)))))
    join [y] (x, to = z)
      scan e(x: number, y: number)
      scan p(y: number, z: number)
    """
    return "\n".join(node_lines(node))


def node_lines(node: Node, indent: str = "") -> Iterator[str]:
    """The lines of a tree, each with its indentation."""
    yield indent + print_head(node)
    deeper = indent + INDENT
    match node:
        case Values():
            for row in node.rows:
                yield f"{deeper}row {', '.join(map(spell_value, row))}".rstrip()
        case FlatMap() | JoinFlatMap():
            yield from (deeper + print_step(step) for step in node.steps)
        case Aggregate() if node.keys is not None:
            yield from node_lines(node.input, deeper)
            yield f"{deeper}keys"
            yield from node_lines(node.keys, deeper + INDENT)
            return
        case _:
            pass
    for child in children(node):
        yield from node_lines(child, deeper)


def print_head(node: Node) -> str:
    """The line of a node itself."""
    match node:
        case Unit():
            return "unit"
        case Values():
            return f"values {_schema(node.schema)}"
        case Scan():
            return f"scan {spell_name(node.relation)}{_schema(node.schema)}"
        case FlatMap():
            return f"map {_output(node.output)}"
        case JoinFlatMap():
            return f"join {_names(node.on)} {_output(node.output)}"
        case SemiJoin():
            return f"semijoin {_names(node.on)}"
        case AntiJoin():
            return f"antijoin {_names(node.on)}"
        case Aggregate():
            into = print_column(Column(node.into, node.fold.kind))
            return f"aggregate {_fold_op(node.fold)} by {_names(node.by)} into {into}{_fold_operands(node.fold)}"
        case ConcatAll():
            return "concat"
        case Shared():
            return f"shared {node.id} {_schema(node.schema)}"


def print_step(step: Step) -> str:
    match step:
        case Where(condition):
            return f"where {print_condition(condition)}"
        case Let(column, value):
            return f"let {print_column(column)} = {print_scalar(value)}"
        case Each(column, bounds):
            return f"each {print_column(column)} = range({', '.join(map(print_scalar, bounds))})"


def print_column(column: Column) -> str:
    return f"{spell_name(column.name)}: {column.kind.value}"


def _schema(schema: Schema) -> str:
    return f"({', '.join(map(print_column, schema))})"


def _names(names: Iterable[str]) -> str:
    return f"[{', '.join(map(spell_name, names))}]"


def _output(output: tuple[tuple[str, Scalar], ...]) -> str:
    """Each column with its value; a column that keeps its name stands alone."""

    def entry(name: str, value: Scalar) -> str:
        kept = isinstance(value, Column) and value.name == name
        return spell_name(name) if kept else f"{spell_name(name)} = {print_scalar(value)}"

    return f"({', '.join(entry(name, value) for name, value in output)})"


def _fold_op(fold: Fold) -> str:
    return f"@{spell_name(fold.op[1:])}" if fold.op.startswith("@") else spell_name(fold.op)


def _fold_operands(fold: Fold) -> str:
    value = f" of {print_scalar(fold.value)}" if fold.value is not None else ""
    return value + (f" init {print_scalar(fold.init)}" if fold.init is not None else "")

"""What can be wrong with relational nodes."""

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
from flintlog.ir.program import Program
from flintlog.ir.text.node_printer import print_head, print_step
from flintlog.ir.verify.scalars import Scope, condition_problems, function_problems, scalar_problems, value_fits
from flintlog.types import Kind


def node_problems(node: Node, program: Program) -> Iterator[str]:
    """The problems of a tree, from the leaves up: who takes just the first may rely on the schemas below a node. Each
    names the node it is about. Shared subplans must have none themselves."""
    for child in children(node):
        yield from node_problems(child, program)
    for problem in _own_problems(node, program):
        yield f"at `{print_head(node)}`: {problem}"


def _own_problems(node: Node, program: Program) -> Iterator[str]:
    match node:
        case Unit():
            pass
        case Values():
            yield from _values_problems(node)
        case Scan():
            relation = program.relations.get(node.relation)
            if relation is None:
                yield f"relation `{node.relation}` is unknown"
            else:
                yield from kind_problems(node.schema, relation.kinds, f"relation `{node.relation}`")
        case Shared():
            if node.id not in program.shared:
                yield f"shared subplan {node.id} is unknown"
            else:
                yield from kind_problems(node.schema, kinds_of(program.shared[node.id].schema), "the shared subplan")
        case FlatMap():
            yield from _map_problems(node, node.input.schema, program)
        case JoinFlatMap():
            yield from _on_problems(node)
            common = {c.name for c in node.left.schema} & {c.name for c in node.right.schema}
            if set(node.on) != common:
                yield f"the sides have the columns {sorted(common)} in common"
            yield from _map_problems(node, node.joined, program)
        case SemiJoin() | AntiJoin():
            yield from _on_problems(node)
        case Aggregate():
            yield from _aggregate_problems(node, program)
        case ConcatAll():
            if not node.inputs:
                yield "it has no inputs"
            elif any(child.schema != node.schema for child in node.inputs):
                yield "the inputs have different columns"
    yield from _duplicates((column.name for column in node.schema), "column")


def kinds_of(schema: Schema) -> tuple[Kind, ...]:
    return tuple(column.kind for column in schema)


def kind_problems(schema: Schema, wanted: tuple[Kind, ...], whose: str) -> Iterator[str]:
    """Columns that are more, fewer or of other kinds than those of a relation or subplan."""
    if len(schema) != len(wanted):
        yield f"{len(schema)} columns stand for the {len(wanted)} of {whose}"
        return
    for column, kind in zip(schema, wanted, strict=True):
        if column.kind is not kind:
            yield f"column `{column.name}` is {column.kind.value}, but in {whose} it is {kind.value}"


def _duplicates(names: Iterable[str], what: str) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield f"{what} `{name}` stands twice"
        seen.add(name)


def _scope(schema: Schema) -> dict[str, Kind]:
    return {column.name: column.kind for column in schema}


def _values_problems(node: Values) -> Iterator[str]:
    for row in node.rows:
        if len(row) != len(node.schema):
            yield f"row {row!r} has {len(row)} values"
        elif not all(value_fits(value, column.kind) for value, column in zip(row, node.schema, strict=True)):
            yield f"row {row!r} does not have the kinds of the columns"


def _on_problems(node: JoinFlatMap | SemiJoin | AntiJoin) -> Iterator[str]:
    yield from _duplicates(node.on, "join column")
    left, right = _scope(node.left.schema), _scope(node.right.schema)
    for name in node.on:
        if name not in left or name not in right:
            yield f"join column `{name}` is not on the {'right' if name in left else 'left'} side"
        elif left[name] is not right[name]:
            yield f"join column `{name}` is {left[name].value} on the left and {right[name].value} on the right"


def _map_problems(node: FlatMap | JoinFlatMap, inputs: Schema, program: Program) -> Iterator[str]:
    scope = _scope(inputs)
    for step in node.steps:
        for problem in _step_problems(step, scope, program):
            yield f"in `{print_step(step)}`: {problem}"
        if not isinstance(step, Where):
            scope[step.column.name] = step.column.kind
    for _, value in node.output:
        yield from scalar_problems(value, scope, program.functions)


def _step_problems(step: Step, scope: Scope, program: Program) -> Iterator[str]:
    if isinstance(step, Where):
        yield from condition_problems(step.condition, scope, program.functions)
        return
    name, kind = step.column.name, step.column.kind
    values = (step.value,) if isinstance(step, Let) else step.bounds
    for value in values:
        yield from scalar_problems(value, scope, program.functions)
        if value.kind is not kind:
            yield f"column `{name}` is {kind.value}, but its value is {value.kind.value}"
    if isinstance(step, Each) and not (len(values) in (2, 3) and kind.is_numeric):
        yield "a range goes over numbers and has two or three bounds"
    if name in scope:
        yield f"column `{name}` is there already"


# --- Aggregates -----------------------------------------------------------------------------------

_FOLDS = ("count", "sum", "min", "max", "mean")


def _aggregate_problems(node: Aggregate, program: Program) -> Iterator[str]:
    scope = _scope(node.input.schema)
    for name in node.by:
        if name not in scope:
            yield f"group column `{name}` is not in the input"
    by = {name: scope[name] for name in node.by}
    if node.keys is not None and [(c.name, c.kind) for c in node.keys.schema] != list(by.items()):
        yield "the columns of the keys are not the group columns"
    if node.fold.value is not None:
        yield from scalar_problems(node.fold.value, scope, program.functions)
    if node.fold.init is not None:
        # A group has one initial value, so only what is one in a group can take part.
        yield from scalar_problems(node.fold.init, by, program.functions)
    yield from _fold_problems(node.fold, program)


def _fold_problems(fold: Fold, program: Program) -> Iterator[str]:
    by_user = fold.op.startswith("@")
    if not by_user and fold.op not in _FOLDS:
        yield f"`{fold.op}` is no fold"
    if (fold.init is not None) is not by_user:
        yield "a fold has an initial value if, and only if, it is by a user's function"
    if fold.init is not None and fold.init.kind is not fold.kind:
        yield f"the fold is marked {fold.kind.value}, but starts with {fold.init.kind.value}"
    if fold.op == "count":
        return
    if fold.value is None:
        yield "the fold has no value"
    elif by_user:
        yield from function_problems(fold.op[1:], (fold.kind, fold.value.kind), fold.kind, program.functions)
    elif fold.op != "mean" and fold.value.kind is not fold.kind:
        yield f"the fold is marked {fold.kind.value}, but folds {fold.value.kind.value}"

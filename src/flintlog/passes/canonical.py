"""Which trees are the same but for the names of columns, their order, and the sides of joins.

Every tree belongs to a class, numbered in the order they are met. A class is known by a key over the classes of the
tree's inputs, so comparing two trees costs no more than looking at their nodes once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    FlatMap,
    JoinFlatMap,
    Node,
    Scan,
    SemiJoin,
    Shared,
    Step,
    Unit,
    Values,
    Where,
)
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.scalar import Column, Compare, Scalar
from flintlog.ir.visit import rewrite_step, substitute


@dataclass(frozen=True)
class Form:
    """The class of a tree, and the names that the tree gives to the columns of its class."""

    number: int
    names: tuple[str, ...]

    def places(self, names: Iterable[str]) -> tuple[int, ...]:
        """Where columns with these names stand in the class."""
        return tuple(self.names.index(name) for name in names)


class Classes:
    """Sorts trees into classes.

    >>> from flintlog.types import Kind
    >>> x, y, z = (Column(name, Kind.NUMBER) for name in "xyz")
    >>> edge = Classes()
    >>> edge.form(Scan("edge", (x, y))), edge.form(Scan("edge", (y, z)))
    (Form(number=0, names=('x', 'y')), Form(number=0, names=('y', 'z')))
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._forms: dict[int, tuple[Node, Form]] = {}  # by identity; the node is kept so that it stays the only one

    def form(self, node: Node) -> Form:
        known = self._forms.get(id(node))
        if known is None:
            key, names = self._key(node)
            number = self._numbers.setdefault(key, len(self._numbers))
            known = self._forms[id(node)] = (node, Form(number, names))
        return known[1]

    def _key(self, node: Node) -> tuple[tuple[object, ...], tuple[str, ...]]:
        match node:
            case Unit():
                return ("unit",), ()
            case Scan():
                return ("scan", node.relation), _names(node)
            case Values():
                # By their text: a zero has two signs, and they are equal.
                return ("values", *(c.kind for c in node.schema), repr(node.rows)), _names(node)
            case Shared():
                return ("shared", node.id), _names(node)
            case FlatMap():
                input = self.form(node.input)
                key, names = _mapped(_places(input, node.input, "a"), node.steps, node.output)
                return ("map", input.number, *key), names
            case JoinFlatMap():
                return self._join(node)
            case SemiJoin() | AntiJoin():
                left, right = self.form(node.left), self.form(node.right)
                on = sorted(zip(left.places(node.on), right.places(node.on), strict=True))
                return (type(node).__name__, left.number, right.number, *on), left.names
            case Aggregate():
                return self._aggregate(node)
            case ConcatAll():
                forms = [self.form(part) for part in node.inputs]
                parts = {(f.number, f.places(_names(part))) for f, part in zip(forms, node.inputs, strict=True)}
                return ("concat", *sorted(parts)), _names(node)

    def _join(self, node: JoinFlatMap) -> tuple[tuple[object, ...], tuple[str, ...]]:
        left, right = self.form(node.left), self.form(node.right)
        ways = []
        if left.number <= right.number:
            ways.append(_joined(node, node.left, left, node.right, right))
        if right.number <= left.number:
            ways.append(_joined(node, node.right, right, node.left, left))
        key, names = min(ways, key=lambda way: repr(way[0]))
        return ("join", *sorted((left.number, right.number)), *key), names

    def _aggregate(self, node: Aggregate) -> tuple[tuple[object, ...], tuple[str, ...]]:
        input = self.form(node.input)
        by = sorted(node.by, key=input.names.index)
        places = _places(input, node.input, "a")
        terms = [_text(term, places) if term is not None else "" for term in (node.fold.value, node.fold.init)]
        keys: tuple[object, ...] = ()
        if node.keys is not None:
            form = self.form(node.keys)
            keys = (form.number, form.places(by))
        key = ("aggregate", input.number, input.places(by), node.fold.op, node.fold.kind, *terms, *keys)
        return key, (*by, node.into)


def _names(node: Node) -> tuple[str, ...]:
    return tuple(column.name for column in node.schema)


def _places(form: Form, node: Node, side: str) -> dict[str, Scalar]:
    """A column for each of the node's, named by its place in the class."""
    kinds = {column.name: column.kind for column in node.schema}
    return {name: Column(f"{side}{i}", kinds[name]) for i, name in enumerate(form.names)}


def _joined(
    node: JoinFlatMap, first: Node, first_form: Form, second: Node, second_form: Form
) -> tuple[tuple[object, ...], tuple[str, ...]]:
    """Key and names of a join with its sides taken in this order."""
    on = sorted(zip(first_form.places(node.on), second_form.places(node.on), strict=True))
    places = {**_places(second_form, second, "b"), **_places(first_form, first, "a")}
    key, names = _mapped(places, node.steps, node.output)
    return (tuple(on), *key), names


def _mapped(
    places: dict[str, Scalar], steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]
) -> tuple[tuple[object, ...], tuple[str, ...]]:
    """Key and names of steps and a projection over columns that stand at these places."""
    texts: list[str] = []
    for is_test, run in groupby(steps, key=_is_free_test):
        if is_test:
            texts += sorted(_step_text(step, places) for step in run)
            continue
        for step in run:
            texts.append(_step_text(step, places))
            if not isinstance(step, Where):
                places = {**places, step.column.name: Column(f"s{len(texts)}", step.column.kind)}
    values = sorted((_text(value, places), name) for name, value in output)
    return ("|".join(texts), "|".join(text for text, _ in values)), tuple(name for _, name in values)


def _is_free_test(step: Step) -> bool:
    """Whether a step is a filter that may change places with another one."""
    return isinstance(step, Where) and not may_fail(step.condition)


def _step_text(step: Step, places: dict[str, Scalar]) -> str:
    step = rewrite_step(step, lambda part: places.get(part.name, part) if isinstance(part, Column) else part)
    match step:
        case Where(Compare("=" | "!=" as op, left, right)):
            return f"{op}{sorted((repr(left), repr(right)))}"
        case Where(Compare(">" | ">=" as op, left, right)):
            return repr(Where(Compare(op.replace(">", "<"), right, left)))
        case Where():
            return repr(step)
        case _:
            return repr(replace(step, column=Column("", step.column.kind)))


def _text(scalar: Scalar, places: dict[str, Scalar]) -> str:
    return repr(substitute(scalar, places))

"""IR nodes as SQL text. A text may select a row several times that the node has once: `is_distinct` decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from flintlog.diagnostics import InternalError
from flintlog.engines.spark.dataframe.sql.distinctness import is_distinct
from flintlog.engines.spark.dataframe.sql.folds import fold_text, in_sql
from flintlog.engines.spark.dataframe.sql.join_columns import passed_down, positions
from flintlog.engines.spark.dataframe.sql.scalars import Scalars, is_native, quoted
from flintlog.engines.spark.dataframe.sql.texts import (
    EMPTY,
    SALT,
    Rows,
    Salted,
    agreeing,
    distinct,
    everywhere,
    in_order,
    joined,
    renamed,
    selected,
)
from flintlog.ir.nodes import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    Each,
    FlatMap,
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
from flintlog.ir.scalar import Column, Scalar
from flintlog.ir.visit import columns_of, terms_of

# If the tested side of a semi-join has so many times the rows of the other side, its matching keys are looked for
# first: then the hash tables are made of few rows.
_FEW = 4

Output = Sequence[tuple[str, Scalar]]


class Sources(Protocol):
    """The rows that nodes read, and the parts of plans that are not SQL. `wanted` are the positions of the columns by
    which the rows should be partitioned."""

    def scan(self, node: Scan, wanted: tuple[int, ...]) -> Rows:
        """The rows of a relation, with columns c0, c1, …"""

    def is_set(self, relation: str) -> bool:
        """Whether a relation holds every row once."""

    def fixed(self, node: Node, wanted: tuple[int, ...]) -> Rows | None:
        """The rows of a node, with columns c0, c1, …, if there is a copy that stays from round to round."""

    def salted(self, node: Node, wanted: tuple[int, ...]) -> Salted | None:
        """The copy of a node with spread keys, if some keys at these positions have too many rows."""

    def task_steps(self, text: str, schema: Schema, steps: Sequence[Step], output: Output) -> str:
        """A text for the result of steps that tasks run over the rows of another text."""

    def task_fold(self, node: Aggregate, text: str, keys: str | None) -> str:
        """A text for an aggregate over the distinct rows of another text."""

    def hint(self, left: Rows, right: Rows, *, either: bool, on: Sequence[str]) -> str:
        """The hint for a join of `l` and `r`. Only the right side may be hashed, unless `either` may."""

    def gathered(self, text: str) -> str:
        """A text of several sources with the hint that all rows are in one partition, if they are: Spark would not see
        it."""


def _met(node: JoinFlatMap, left: Rows, right: Rows) -> list[tuple[Rows, Rows]]:
    """The joins to make: one side with each piece of the other, if reading the first side again costs nothing else."""
    if right.pieces and _is_read(node.left):
        return [(left, piece) for piece in right.pieces]
    if left.pieces and _is_read(node.right):
        return [(piece, right) for piece in left.pieces]
    return [(left, right)]


def _only_tests(side: Node, node: JoinFlatMap) -> bool:
    """Whether a side of a join has no columns beside the join's key, so that it is a mere test."""
    return bool(node.on) and {column.name for column in side.schema} <= {*node.on}


def _is_read(node: Node) -> bool:
    return isinstance(node, Scan | Values) or (isinstance(node, FlatMap) and not node.steps and _is_read(node.input))


class Plans:
    """Writes nodes as SQL. `table` writes constant rows."""

    def __init__(self, sources: Sources, scalars: Scalars, table: Callable[[Values], str]) -> None:
        self.sources, self.scalars, self.table = sources, scalars, table

    def rows(self, node: Node, wanted: Sequence[str] = ()) -> Rows:
        """The node's rows, partitioned by the columns `wanted` if that costs nothing."""
        by = positions(node, wanted)
        copy = self.sources.fixed(node, by)
        if copy is not None:
            return Rows(renamed(node.schema, copy.text), copy.count)
        match node:
            case Unit():
                return Rows(f"SELECT 0L AS {quoted(EMPTY)}", 1)
            case Values():
                return Rows(renamed(node.schema, self.table(node)), len(node.rows))
            case Scan():
                found = self.sources.scan(node, by)
                pieces = [Rows(renamed(node.schema, piece.text), piece.count) for piece in found.pieces]
                return Rows(renamed(node.schema, found.text), found.count, tuple(pieces))
            case FlatMap():
                inner = self.rows(node.input, passed_down(node.output, wanted))
                return self._mapped(node, inner)
            case JoinFlatMap():
                return self._joined(node)
            case SemiJoin() | AntiJoin():
                return self._tested(node)
            case Aggregate():
                return self._folded(node)
            case ConcatAll():
                parts = [self.rows(part, wanted) for part in node.inputs]
                names = [column.name for column in node.schema]
                text = " UNION ALL ".join(in_order(names, part.text) for part in parts)
                return Rows(self.sources.gathered(text) if len(parts) > 1 else text, sum(part.count for part in parts))
            case Shared():
                raise InternalError("dataframe", f"the shared subplan {node.id} has no copy")
        raise InternalError("dataframe", f"unknown node {node!r}")

    def _mapped(self, node: FlatMap, rows: Rows) -> Rows:
        text = self.stepped(rows.text, node.input.schema, node.steps, node.output)
        # Pieces are of use only for rows that are read without computing anything.
        is_plain = not node.steps and all(isinstance(value, Column) for _, value in node.output)
        return Rows(text, rows.count, tuple([self._mapped(node, piece) for piece in rows.pieces if is_plain]))

    # --- Joins ------------------------------------------------------------------------------------

    def _joined(self, node: JoinFlatMap) -> Rows:
        if isinstance(node.left, Unit) or isinstance(node.right, Unit):
            other = node.right if isinstance(node.left, Unit) else node.left
            inner = self.rows(other)
            return Rows(self.stepped(inner.text, other.schema, node.steps, node.output), inner.count)
        left, right, on = self._sides(node)
        if _only_tests(node.right, node):
            return self._those_with(node, on, left, right, left=True)
        if _only_tests(node.left, node):
            return self._those_with(node, on, right, left, left=False)
        count = max(left.count, right.count) if on else left.count * right.count
        sides = dict.fromkeys((c.name for c in node.right.schema), "r")
        sides |= dict.fromkeys((c.name for c in node.left.schema), "l")
        columns = [(name, value.name) for name, value in node.output if isinstance(value, Column)]
        plain = not node.steps and len(columns) == len(node.output)
        both = [(column.name, column.name) for column in node.joined]
        texts = []
        for pair in _met(node, left, right):
            hint = self.sources.hint(*pair, either=True, on=on)
            texts.append(joined(hint, "JOIN", pair[0].text, pair[1].text, on, columns if plain else both, sides))
        text = self.sources.gathered(" UNION ALL ".join(texts))
        return Rows(text if plain else self.stepped(text, node.joined, node.steps, node.output), count)

    def _those_with(self, node: JoinFlatMap, on: Sequence[str], rows: Rows, tested: Rows, *, left: bool) -> Rows:
        """A join in which the `tested` side has only the key: the result has each of the other `rows` once, not once
        for every match, but possibly once for every piece. `left`: the tested side is the right one."""
        side, key = (node.left, node.right) if left else (node.right, node.left)
        columns, is_read = [column.name for column in side.schema], _is_read(side)
        if rows.count * _FEW < tested.count and is_read:
            found = [distinct(self._met_by(piece, rows, on, on)) for piece in tested.pieces or (tested,)]
            tested = Rows(self.sources.gathered(" UNION ALL ".join(found)), rows.count)
        pairs = [(rows, piece) for piece in tested.pieces] if is_read else []
        pairs = pairs or ([(piece, tested) for piece in rows.pieces] if _is_read(key) else [])
        texts = [self._met_by(*pair, on, columns) for pair in pairs or [(rows, tested)]]
        text = self.sources.gathered(" UNION ALL ".join(texts))
        return Rows(self.stepped(text, side.schema, node.steps, node.output), rows.count)

    def _met_by(
        self, rows: Rows, others: Rows, on: Sequence[str], columns: Sequence[str], kind: str = "LEFT SEMI JOIN"
    ) -> str:
        """The given columns of the rows that agree with some row of `others`; with none, for an anti join."""
        hint, picked = self.sources.hint(rows, others, either=False, on=on), [(name, name) for name in columns]
        return joined(hint, kind, rows.text, others.text, on, picked, dict.fromkeys(columns, "l"))

    def _sides(self, node: JoinFlatMap) -> tuple[Rows, Rows, Sequence[str]]:
        """Both inputs of a join, and the columns they share. If a key has very many rows on one side, these rows are
        spread over several partitions, and the other side's rows with that key are copied to each of them."""
        for side, other in ((node.right, node.left), (node.left, node.right)):
            salted = self.sources.salted(side, positions(side, node.on))
            if salted is not None:
                heavy, rows = Rows(renamed(side.schema, salted.rows.text, SALT), salted.rows.count), self.rows(other)
                light, on = Rows(everywhere(rows.text, node.on, salted), rows.count), (*node.on, SALT)
                return (light, heavy, on) if other is node.left else (heavy, light, on)
        return self.rows(node.left, node.on), self.rows(node.right, node.on), node.on

    def _tested(self, node: SemiJoin | AntiJoin) -> Rows:
        left, right = self.rows(node.left, node.on), self.rows(node.right, node.on)
        kind = "LEFT SEMI JOIN" if isinstance(node, SemiJoin) else "LEFT ANTI JOIN"
        return Rows(self._met_by(left, right, node.on, [column.name for column in node.schema], kind), left.count)

    # --- Aggregates -------------------------------------------------------------------------------

    def _folded(self, node: Aggregate) -> Rows:
        inner = self.rows(node.input, node.by)
        # Equal rows do not change what is least or greatest.
        plain = node.fold.op in ("min", "max") or is_distinct(node.input, self.sources.is_set)
        text = inner.text if plain else distinct(inner.text)
        keys = self.rows(node.keys, node.by) if node.keys is not None else None
        if not in_sql(node.fold):
            return Rows(self.sources.task_fold(node, text, None if keys is None else keys.text), inner.count)
        text = fold_text(node, text, self.scalars)
        if keys is not None and not isinstance(node.keys, Unit):
            text = self._for_keys(node, Rows(text, inner.count), keys)
        return Rows(text, inner.count if node.by else 1)

    def _for_keys(self, node: Aggregate, folded: Rows, keys: Rows) -> str:
        """A row for each of the keys; if the fold has a default, also for keys of empty groups."""
        names = [f"l.{quoted(name)} AS {quoted(name)}" for name in node.by]
        default = node.fold.has_default
        value = f"coalesce(r.{quoted(node.into)}, 0L)" if default else f"r.{quoted(node.into)}"
        what = ", ".join([*names, f"{value} AS {quoted(node.into)}"])
        hint = self.sources.hint(keys, folded, either=False, on=node.by)
        kind = "LEFT OUTER JOIN" if default else "JOIN"
        return f"SELECT {hint} {what} FROM ({distinct(keys.text)}) l {kind} ({folded.text}) r ON {agreeing(node.by)}"

    # --- Steps ------------------------------------------------------------------------------------

    def stepped(self, text: str, schema: Schema, steps: Sequence[Step], output: Output) -> str:
        """Steps and projection over the rows of a text: in SQL up to the first step that SQL cannot express, then in
        tasks."""
        known = {column.name: column for column in schema}
        conditions: list[str] = []
        for i, step in enumerate(steps):
            if isinstance(step, Each) or not all(is_native(term) for term in terms_of(step)):
                return self._in_tasks(text, conditions, known, steps[i:], output)
            match step:
                case Where(condition):
                    conditions.append(self.scalars.condition(condition))
                case Let(column, value):
                    added = f"{self.scalars.scalar(value)} AS {quoted(column.name)}"
                    text = selected(list(known), text, conditions, added)
                    known, conditions = {**known, column.name: column}, []
        if not all(is_native(value) for _, value in output):
            return self._in_tasks(text, conditions, known, (), output)
        values = [f"{self.scalars.scalar(value)} AS {quoted(name)}" for name, value in output]
        return selected([], text, conditions, *values)

    def _in_tasks(
        self, text: str, conditions: Sequence[str], known: Mapping[str, Column], steps: Sequence[Step], output: Output
    ) -> str:
        """Sends tasks only the columns that they read."""
        read = {name for step in steps for term in terms_of(step) for name in columns_of(term)}
        read |= {name for _, value in output for name in columns_of(value)}
        schema = tuple(column for name, column in known.items() if name in read)
        text = in_order([column.name for column in schema], selected(list(known), text, conditions))
        return self.sources.task_steps(text, schema, steps, output)

"""The driver's side of steps and folds in Python tasks: sends tasks the values that they need, and numbers the values
that they make."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.sql.plans import Output
from flintlog.engines.spark.dataframe.sql.scalars import is_native, quoted
from flintlog.engines.spark.dataframe.sql.texts import agreeing, distinct, renamed
from flintlog.engines.spark.dataframe.tasks.python_tasks import FoldTask, Piece, Report, Seed, StepsTask
from flintlog.engines.spark.dataframe.workspace import PersistedRows, Workspace
from flintlog.ir.nodes import Aggregate, Let, Schema, Step
from flintlog.ir.regex import matches
from flintlog.ir.scalar import Call, Column, Compare, Condition, Const, Scalar
from flintlog.ir.visit import terms_of, walk_scalar
from flintlog.source import NOWHERE, Span
from flintlog.types import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The column with 1 in a row of a group, and 0 in a row that only stands for an empty group. No variable has this name.
THERE = quoted("there$")


class PythonSteps:
    """`place` is the span of the rule whose plan is being made, for diagnostics."""

    def __init__(self, workspace: Workspace, context: Context) -> None:
        self.workspace, self.context = workspace, context
        self.place: Span = NOWHERE
        self.round = 0
        self._token = uuid4().hex
        self._sent: list[Any] = []
        self._known = 0
        self._persisted: list[PersistedRows] = []
        self._views: list[str] = []

    def close(self) -> None:
        """Destroys the broadcasts that were sent to tasks."""
        for sent in self._sent:
            if not isinstance(sent, Piece):
                sent.destroy()
        self._sent, self._known = [], 0

    def end_round(self) -> None:
        """Drops the rows and views that were made for the plans of a round."""
        for rows in self._persisted:
            self.workspace.free(rows)
        for view in self._views:
            self.workspace.forget(view)
        self._persisted, self._views = [], []

    def steps(self, text: str, schema: Schema, steps: Sequence[Step], output: Output) -> str:
        terms = [term for step in steps for term in terms_of(step)] + [value for _, value in output]
        made: set[str] = set()
        for step in steps:
            if isinstance(step, Let) and _is_made(step.value, made):
                made.add(step.column.name)
        fresh = tuple(_is_made(value, made) for _, value in output)
        report = Report(fresh, any(map(_may_say, terms)))
        seed = self._seed(any(map(_looks, terms)))
        task = StepsTask(seed, schema, tuple(steps), tuple(output), report, self.place)
        kinds = [value.kind for _, value in output]
        result = self._run(self.workspace.sql(text), task, report, kinds)
        return renamed(tuple(Column(name, value.kind) for name, value in output), result)

    def fold(self, node: Aggregate, text: str, keys: str | None) -> str:
        """Sends tasks whole groups, sorted, so that no task holds more than one group at a time."""
        schema, fold = node.input.schema, node.fold
        names = [quoted(column.name) for column in schema]
        present = keys is not None and fold.has_default
        if keys is not None:
            own = [f"l.{quoted(c.name)}" if c.name in node.by else f"coalesce(r.{quoted(c.name)}, 0L)" for c in schema]
            there = f"coalesce(r.{THERE}, 0L) AS {THERE}"
            what = ", ".join([*(f"{o} AS {n}" for o, n in zip(own, names, strict=True)), there])
            marked = f"SELECT *, 1L AS {THERE} FROM ({text})"
            kind = "LEFT OUTER JOIN" if present else "JOIN"
            text = f"SELECT {what} FROM ({distinct(keys)}) l {kind} ({marked}) r ON {agreeing(node.by)}"
        by = ", ".join(map(quoted, node.by))
        placed = f"DISTRIBUTE BY {by} SORT BY {by}" if by else "DISTRIBUTE BY 0L"
        report = Report((*(False for _ in node.by), _is_interned(fold.kind)), any(map(_may_say, _terms(node))))
        looks = any(_is_interned(kind) for kind in (fold.kind, *(t.kind for t in _terms(node)))) or any(
            map(_looks, _terms(node))
        )
        columns = ", ".join([*names, *([THERE] if present else [])])
        task = FoldTask(self._seed(looks), schema, node.by, fold, report, present, self.place)
        kinds = [column.kind for column in node.schema]
        frame = self.workspace.sql(f"SELECT {columns} FROM ({text}) {placed}")
        return renamed(node.schema, self._run(frame, task, report, kinds))

    # --- Running ----------------------------------------------------------------------------------

    def _seed(self, looks: bool) -> Seed:
        """The seed of the tasks' machines. It has the values of symbols and records only if the task `looks` into
        them."""
        if looks:
            values = self.context.machine().known.values
            if len(values) > self._known:
                self._sent.append(self._send(values[self._known :]))
                self._known = len(values)
        sent = tuple(self._sent) if looks else ()
        token = self._token if looks else f"{self._token}-"
        return Seed(token, self.context.word_size, dict(self.context.functions), self.round, sent)

    def _send(self, values: Sequence[Any]) -> Any:
        if self.context.spark_connect:
            return Piece(tuple(values))
        return self.workspace.spark.sparkContext.broadcast(list(values))

    def _run(self, frame: DataFrame, task: StepsTask | FoldTask, report: Report, kinds: Sequence[Kind]) -> str:
        """A text that selects the columns c0, c1, … of the rows that tasks return."""
        result = frame.mapInArrow(task, report.schema())
        if not report.is_needed:
            view = self.workspace.view(result)
            self._views.append(view)
            return f"SELECT {_words(len(kinds))} FROM {view}"
        rows = self.workspace.persist([result])[0]
        self._persisted.append(rows)
        self._notify(rows, report)
        numbers = self._numbered(rows, report)
        return _replaced(rows.view, numbers, report, kinds)

    def _notify(self, rows: PersistedRows, report: Report) -> None:
        if report.says and rows.rows:
            for row in self.workspace.sql(f"SELECT DISTINCT m FROM {rows.view} WHERE m IS NOT NULL").collect():
                self.context.notify(row[0], self.place)

    def _numbered(self, rows: PersistedRows, report: Report) -> str | None:
        """A view of the new values and their numbers; None if there are no new values."""
        columns = [f"v{i}" for i, fresh in enumerate(report.fresh) if fresh]
        if not columns or not rows.rows:
            return None
        some = " UNION ALL ".join(f"SELECT {c} AS v FROM {rows.view} WHERE {c} IS NOT NULL" for c in columns)
        found = [bytes(row[0]) for row in self.workspace.sql(distinct(some)).collect()]
        if not found:
            return None
        # Most runs have no values to number, and need none of the embedded engine at the driver.
        from flintlog.engines.spark.dataframe.tasks.arrow_steps import settled

        numbers = self.context.add_values([settled(pickle.loads(value)) for value in found])
        table = self.workspace.table(list(zip(found, numbers, strict=True)), "v binary, n bigint")
        view = self.workspace.view(table)
        self._views.append(view)
        return view


def _words(arity: int) -> str:
    return ", ".join(f"coalesce(c{i}, 0L) AS c{i}" for i in range(max(1, arity)))


def _replaced(view: str, numbers: str | None, report: Report, kinds: Sequence[Kind]) -> str:
    """The rows of a view, with the numbers of new values in place of these."""
    said = " WHERE t.m IS NULL" if report.says else ""
    if numbers is None:
        return f"SELECT {_words(len(kinds))} FROM {view} t{said}"
    what, joins = [], []
    for i, (kind, fresh) in enumerate(zip(kinds, report.fresh, strict=True)):
        word = f"t.c{i}"
        if fresh:
            word = f"coalesce(n{i}.n{'' if kind is Kind.SYMBOL else ' + 1L'}, {word})"
            joins.append(f" LEFT OUTER JOIN {numbers} n{i} ON t.v{i} = n{i}.v")
        what.append(f"coalesce({word}, 0L) AS c{i}")
    hint = f"/*+ BROADCAST({', '.join(f'n{i}' for i, fresh in enumerate(report.fresh) if fresh)}) */"
    return f"SELECT {hint} {', '.join(what)} FROM {view} t{''.join(joins)}{said}"


# --- Properties of terms --------------------------------------------------------------------------


def _terms(node: Aggregate) -> list[Scalar]:
    return [term for term in (node.fold.value, node.fold.init) if term is not None]


def _is_interned(kind: Kind) -> bool:
    return not kind.is_numeric


def _makes(scalar: Scalar) -> bool:
    """Whether an expression may have a value without a number. Parts of records have no numbers either."""
    return not isinstance(scalar, Column | Const) and _is_interned(scalar.kind)


def _is_made(scalar: Scalar, made: Collection[str]) -> bool:
    """Whether an expression may have a value without a number, given the columns (`made`) that may."""
    return _makes(scalar) or (isinstance(scalar, Column) and scalar.name in made)


def _looks(term: Scalar | Condition) -> bool:
    """Whether a task needs the values behind words to evaluate a term."""
    interned = [scalar for scalar in walk_scalar(term) if _is_interned(scalar.kind)]
    return any(isinstance(scalar, Const) for scalar in interned) or (bool(interned) and not is_native(term))


def _may_say(term: Scalar | Condition) -> bool:
    """Whether evaluating a term may give a warning."""
    match term:
        case Compare("match" | "not_match", Const(str() as pattern, _), _):
            if matches(pattern, "") is None:
                return True
        case Compare("match" | "not_match", _, _):
            return True
    return any(isinstance(scalar, Call) and scalar.op == "substr" for scalar in walk_scalar(term))

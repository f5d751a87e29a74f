"""Steps and folds in Python tasks, as seen from the driver: what they need to know goes there, and the values they
make are numbered here."""

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
from flintlog.engines.spark.dataframe.workspace import Kept, Workspace
from flintlog.ir.nodes import Aggregate, Let, Schema, Step
from flintlog.ir.regex import matches
from flintlog.ir.scalar import Call, Column, Compare, Condition, Const, Scalar
from flintlog.ir.visit import terms_of, walk_scalar
from flintlog.source import NOWHERE, Span
from flintlog.types import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The column that says whether a group has the row, or the row only stands for a group without any. No variable has
# such a name.
THERE = quoted("there$")


class PythonSteps:
    """`place` is that of the rule at hand, for what it does wrong."""

    def __init__(self, workspace: Workspace, context: Context) -> None:
        self.workspace, self.context = workspace, context
        self.place: Span = NOWHERE
        self.round = 0
        self._token = uuid4().hex
        self._sent: list[Any] = []
        self._known = 0
        self._kept: list[Kept] = []
        self._views: list[str] = []

    def close(self) -> None:
        """Takes back what tasks were sent."""
        for sent in self._sent:
            if not isinstance(sent, Piece):
                sent.destroy()
        self._sent, self._known = [], 0

    def end_round(self) -> None:
        """What was computed for the plans of a round goes."""
        for kept in self._kept:
            self.workspace.free(kept)
        for view in self._views:
            self.workspace.forget(view)
        self._kept, self._views = [], []

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
        """Groups go to tasks whole, and sorted, so that no task keeps more than one."""
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
        """What tasks have to know; values of symbols and records only if they look into them."""
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
        """A text that selects c0, c1, … of what tasks return."""
        result = frame.mapInArrow(task, report.schema())
        if not report.is_needed:
            view = self.workspace.view(result)
            self._views.append(view)
            return f"SELECT {_words(len(kinds))} FROM {view}"
        kept = self.workspace.keep([result])[0]
        self._kept.append(kept)
        self._hear(kept, report)
        numbers = self._numbered(kept, report)
        return _replaced(kept.view, numbers, report, kinds)

    def _hear(self, kept: Kept, report: Report) -> None:
        if report.says and kept.rows:
            for row in self.workspace.sql(f"SELECT DISTINCT m FROM {kept.view} WHERE m IS NOT NULL").collect():
                self.context.notify(row[0], self.place)

    def _numbered(self, kept: Kept, report: Report) -> str | None:
        """A view of new values and the numbers they have got."""
        columns = [f"v{i}" for i, fresh in enumerate(report.fresh) if fresh]
        if not columns or not kept.rows:
            return None
        some = " UNION ALL ".join(f"SELECT {c} AS v FROM {kept.view} WHERE {c} IS NOT NULL" for c in columns)
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
    """The rows of a view, new values by their numbers."""
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


# --- What terms do --------------------------------------------------------------------------------


def _terms(node: Aggregate) -> list[Scalar]:
    return [term for term in (node.fold.value, node.fold.init) if term is not None]


def _is_interned(kind: Kind) -> bool:
    return not kind.is_numeric


def _makes(scalar: Scalar) -> bool:
    """Whether an expression may have a value that nobody has numbered: parts of records have no numbers either."""
    return not isinstance(scalar, Column | Const) and _is_interned(scalar.kind)


def _is_made(scalar: Scalar, made: Collection[str]) -> bool:
    """Whether an expression may have such a value, given the columns that may."""
    return _makes(scalar) or (isinstance(scalar, Column) and scalar.name in made)


def _looks(term: Scalar | Condition) -> bool:
    """Whether a task has to know what words stand for, to evaluate a term."""
    interned = [scalar for scalar in walk_scalar(term) if _is_interned(scalar.kind)]
    return any(isinstance(scalar, Const) for scalar in interned) or (bool(interned) and not is_native(term))


def _may_say(term: Scalar | Condition) -> bool:
    """Whether a term may find something odd."""
    match term:
        case Compare("match" | "not_match", Const(str() as pattern, _), _):
            if matches(pattern, "") is None:
                return True
        case Compare("match" | "not_match", _, _):
            return True
    return any(isinstance(scalar, Call) and scalar.op == "substr" for scalar in walk_scalar(term))

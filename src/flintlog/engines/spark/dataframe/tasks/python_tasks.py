"""The functions that plans run in Python tasks: objects that are pickled into the tasks, and the errors that come
back."""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.nodes import Fold, Schema, Step
from flintlog.ir.operations import EvaluationError
from flintlog.ir.scalar import Scalar
from flintlog.source import NOWHERE, Span
from flintlog.types import Value

if TYPE_CHECKING:
    import pyarrow as pa

_FAILURE = re.compile(r"flintlog-failure:([A-Za-z0-9+/=]+):")


@dataclass(frozen=True)
class Piece:
    """Values that travel inside a plan, for Spark Connect, which has no broadcasts."""

    value: Sequence[Value]


@dataclass(frozen=True)
class Seed:
    """The settings and values from which a task makes its machine. `sent` are broadcasts of lists of values, or
    pieces."""

    token: str
    word_size: int
    functions: Mapping[str, Callable[..., Any]]
    round: int
    sent: tuple[Any, ...] = ()

    def pieces(self) -> list[Callable[[], Sequence[Value]]]:
        return [lambda piece=piece: piece.value for piece in self.sent]  # type: ignore[misc]


@dataclass(frozen=True)
class Report:
    """The layout of a task's result: `fresh` tells for each column whether it may have new values, `says` whether there
    is a column for warnings."""

    fresh: tuple[bool, ...]
    says: bool

    @property
    def is_needed(self) -> bool:
        return self.says or any(self.fresh)

    def schema(self) -> str:
        columns = [f"c{i} bigint" for i in range(max(1, len(self.fresh)))]
        columns += [f"v{i} binary" for i, fresh in enumerate(self.fresh) if fresh]
        return ", ".join([*columns, *(["m string"] if self.says else [])])


@dataclass(frozen=True)
class StepsTask:
    """Runs steps and a projection."""

    seed: Seed
    schema: Schema
    steps: tuple[Step, ...]
    output: tuple[tuple[str, Scalar], ...]
    report: Report
    place: Span = field(default=NOWHERE, compare=False)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Imported in the task: the driver pickles tasks and never runs one.
        from flintlog.engines.spark.dataframe.tasks import arrow_steps

        run: Callable[..., Iterator[pa.RecordBatch]] = arrow_steps.run_steps
        yield from _explaining(run(batches, self.seed, self.schema, self.steps, self.output, self.report), self.place)


@dataclass(frozen=True)
class FoldTask:
    """Folds groups; the rows of a group are adjacent."""

    seed: Seed
    schema: Schema
    by: tuple[str, ...]
    fold: Fold
    report: Report
    present: bool
    place: Span = field(default=NOWHERE, compare=False)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from flintlog.engines.spark.dataframe.tasks import arrow_steps

        run: Callable[..., Iterator[pa.RecordBatch]] = arrow_steps.run_fold
        rows = run(batches, self.seed, self.schema, self.by, self.fold, self.report, self.present)
        yield from _explaining(rows, self.place)


def _explaining(rows: Iterator[pa.RecordBatch], place: Span) -> Iterator[pa.RecordBatch]:
    """The rows. Mistakes of the program become errors that `failure_in` finds in Spark's message."""
    try:
        with deep_recursion():
            yield from rows
    except EvaluationError as error:
        raise _failure([Diagnostic("E801", str(error), place, error.note)]) from None
    except FlintlogError as error:
        raise _failure(error.diagnostics) from None


def _failure(diagnostics: Sequence[Diagnostic]) -> RuntimeError:
    text = base64.b64encode(pickle.dumps(list(diagnostics))).decode()
    return RuntimeError(f"flintlog-failure:{text}:")


def failure_in(error: BaseException) -> FlintlogError | None:
    """The program's mistakes that a task has found, if they are the cause of Spark's exception."""
    found = _FAILURE.search(str(error))
    return FlintlogError(pickle.loads(base64.b64decode(found[1]))) if found else None

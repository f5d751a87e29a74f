"""What runs in Spark's tasks: the embedded engine over the rows that Spark sends to a task. Spark pickles the tasks, so
they hold plain data."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.memory import total_memory
from flintlog.engines.protocol import Evaluation, Progress, RunOptions
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.embedded.machines import MachineSeed, values_since
from flintlog.engines.spark.embedded.parcels import Parcel
from flintlog.engines.spark.embedded.placement import EVERYWHERE, Placement, Snapshot, owner
from flintlog.engines.spark.embedded.tagged import gathered, message_out, rows_in, rows_out
from flintlog.engines.spark.exchange.errors import RunFailed, SnapshotDamaged
from flintlog.engines.spark.exchange.mesh import Mesh
from flintlog.engines.spark.exchange.message import Batch, Message
from flintlog.engines.spark.exchange.snapshots import Snapshots
from flintlog.engines.spark.exchange.ticket import Ticket
from flintlog.engines.spark.strata.pivot import Decomposed
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.program import Program, Stratum

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Columns = list[NDArray[np.int64]]


@dataclass(frozen=True)
class Work:
    """What all tasks of a job are told.

    - `inputs`: the relations that come in, by number; `carried` has those whose rows travel inside the task.
    - `outputs`: the relations whose rows go out; `sized`: those of which only the number of rows does.
    - `width`: columns of words in the frame that comes out.
    - `told`: rows of at most this many bytes go to the driver as a message, which it reads without another job.
    - `neighbours`: how many tasks share a machine's memory; `threads`: how many threads a task may have.
    """

    program: Program
    inputs: tuple[str, ...]
    carried: Mapping[int, Parcel]
    outputs: tuple[str, ...]
    sized: tuple[str, ...]
    seed: MachineSeed
    memory_limit: int | None
    neighbours: int
    reorder: bool
    width: int
    told: int = 0
    threads: int = 1

    def arities(self) -> list[int]:
        """Columns of each input, and after these, of the rows that only make every task run."""
        return [*(len(self.program.relations[name].columns) for name in self.inputs), 1]

    def carried_rows(self) -> dict[int, Columns]:
        return {
            number: [column.to_numpy().astype(np.int64, copy=False) for column in parcel.unpacked().columns]
            for number, parcel in self.carried.items()
        }

    def options(self) -> RunOptions:
        limit = self.memory_limit or total_memory() * 4 // 5 // self.neighbours
        return RunOptions(memory_limit=limit, reorder=self.reorder)

    def results(self, rows: Any) -> Iterator[pa.RecordBatch]:
        """The batches that go out; `rows` is a function from a relation's name to its columns."""
        for number, name in enumerate(self.outputs):
            columns = rows(name)
            if sum(column.nbytes for column in columns) <= self.told:
                yield message_out("rows", (number, columns), self.width)
            else:
                yield from rows_out(number, columns, self.width)
                yield message_out("handed", number, self.width)
        sizes = {name: int(rows(name)[0].size) for name in (*self.outputs, *self.sized)}
        yield message_out("sizes", sizes, self.width)


@dataclass
class _Warnings:
    """Warnings of a task, each once."""

    seen: dict[str, Any]

    def __call__(self, message: str, span: Any) -> None:
        self.seen.setdefault(message, span)


@dataclass(frozen=True)
class SingleTask:
    """Evaluates strata one after the other, in one task."""

    work: Work

    @deep_recursion()
    def _evaluate(self, columns: dict[int, Columns], machine: Machine) -> Any:
        return _run_columns(self.work, columns, machine, self.work.program.strata)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        columns = self.work.carried_rows() | _all_rows(batches, self.work)
        yield from _reporting(self.work, partial(self._evaluate, columns))


@dataclass(frozen=True)
class DecomposedTask:
    """Evaluates a stratum for a task's values of the pivot. A partition may hold the rows of several tasks."""

    work: Work
    parts: Decomposed
    tasks: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[int, dict[int, list[Columns]]] = {}
        for number, task, columns in rows_in(batches, self.work.arities(), task=True):
            parts = found.setdefault(task, {})
            if number < len(self.work.inputs):
                parts.setdefault(number, []).append(columns)
        carried = self.work.carried_rows()
        for task in sorted(found):
            rows = self._own(carried, task) | gathered(found.pop(task))
            yield from _reporting(self.work, partial(self._evaluate, rows, task))

    def _own(self, carried: dict[int, Columns], task: int) -> dict[int, Columns]:
        """A task's own part of the carried rows."""
        result = {}
        for number, columns in carried.items():
            _, column = self.parts.reads[self.work.inputs[number]]
            if column != EVERYWHERE:
                mine = owner(columns[column], self.tasks) == task
                columns = [words[mine] for words in columns]
            result[number] = columns
        return result

    @deep_recursion()
    def _evaluate(self, rows_of: dict[int, Columns], task: int, machine: Machine) -> Any:
        parts, columns = self.parts, dict(rows_of)
        if parts.whole is not None:
            everywhere = _run_columns(self.work, columns, machine, (parts.whole,))
            for name, whole in parts.whole_of.items():
                rows = everywhere(whole)
                if rows[0].size:
                    mine = owner(rows[parts.pivots[name]], self.tasks) == task
                    number = self.work.inputs.index(name)
                    rows = [column[mine] for column in rows]
                    if number in columns:
                        rows = [np.concatenate(both) for both in zip(columns[number], rows, strict=True)]
                    columns[number] = rows
        return _run_columns(self.work, columns, machine, (parts.stratum,))


@dataclass(frozen=True)
class ResidentTask:
    """One of several tasks that evaluate strata together, with a connection to every other."""

    work: Work
    placement: Placement
    ticket: Ticket
    snapshots: Snapshots | None
    every: int
    seconds: float

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        rank, ranks = context.partitionId(), self.ticket.ranks
        carried = self.work.carried_rows()
        columns = {number: [words[rank::ranks].copy() for words in rows] for number, rows in carried.items()}
        columns |= _all_rows(batches, self.work)
        with Mesh.join(self.ticket, rank, context.taskAttemptId()) as mesh:
            yield from _reporting(self.work, partial(self._evaluate, columns, mesh), mesh)

    @deep_recursion()
    def _evaluate(self, columns: dict[int, Columns], mesh: Mesh, machine: Machine) -> Any:
        def progress(now: Progress) -> None:
            if mesh.rank == 0:
                mesh.report(now.stratum, now.round, now.delta, now.rows)

        keeper = _Keeper(mesh, self.snapshots, self.every, self.seconds)
        evaluation = Evaluation(options=replace(self.work.options(), progress=progress))
        # Imported in the task: the driver pickles tasks and never runs one.
        from flintlog.engines.spark.embedded.resident import ResidentRun

        run = ResidentRun(self.placement, machine, evaluation, _Exchange(mesh), keeper)
        for number, found in columns.items():
            run.load(self.work.inputs[number], found)
        run.run(keeper.newest())
        return run.rows


class _Exchange:
    """The mesh as an Exchange of columns."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh, self.rank, self.ranks = mesh, mesh.rank, mesh.ranks

    def all_to_all(
        self, numbers: tuple[int, ...], batches: Sequence[Sequence[tuple[int, Columns]]]
    ) -> tuple[tuple[int, ...], list[tuple[int, Columns]]]:
        out = [Message(numbers, [Batch(tag, columns) for tag, columns in to]) for to in batches]
        received = self.mesh.exchange(out)
        sums = tuple(sum(values) for values in zip(*(message.numbers for message in received), strict=True))
        return sums, [(batch.tag, list(batch.columns)) for message in received for batch in message.batches]


class _Keeper:
    """Writes a snapshot after `every` rounds, once `seconds` have passed since the last one."""

    def __init__(self, mesh: Mesh, snapshots: Snapshots | None, every: int, seconds: float) -> None:
        self._mesh, self._snapshots, self._every, self._seconds = mesh, snapshots, every, seconds
        self._rounds, self._last = 0, time.monotonic()

    def wants(self, round: int) -> bool:
        self._rounds += 1
        due = self._rounds >= self._every and time.monotonic() - self._last >= self._seconds
        return self._snapshots is not None and due

    def keep(self, snapshot: Snapshot) -> None:
        assert self._snapshots is not None
        number = self._mesh.next_snapshot()
        extra = pickle.dumps((snapshot.stratum, snapshot.round))
        self._snapshots.write(number, self._mesh.rank, snapshot.rows, extra)
        self._mesh.snapshot_written(number)
        self._snapshots.prune(self._mesh.rank, self._mesh.stale_before)
        self._rounds, self._last = 0, time.monotonic()

    def newest(self) -> Snapshot | None:
        if self._snapshots is None or self._mesh.resume_from is None:
            return None
        rows, extra = self._snapshots.read(self._mesh.resume_from, self._mesh.rank)
        stratum, round = pickle.loads(extra)
        return Snapshot(stratum, round, rows)


def _all_rows(batches: Iterator[pa.RecordBatch], work: Work) -> dict[int, Columns]:
    """All rows that come into a task. Spark does not use a worker again that has not read its input to the end."""
    parts: dict[int, list[Columns]] = {}
    for number, _, columns in rows_in(batches, work.arities(), task=False):
        if number < len(work.inputs):
            parts.setdefault(number, []).append(columns)
    return gathered(parts)


def _run_columns(work: Work, columns: dict[int, Columns], machine: Machine, strata: Sequence[Stratum]) -> Any:
    """Evaluates strata over columns of words; returns a function from a relation's name to its columns."""
    # Imported in the task: the driver pickles tasks and never runs one.
    from flintlog.engines.local.fixpoint import ColumnarRun

    facts = {}
    for number, found in columns.items():
        name = work.inputs[number]
        arity = len(work.program.relations[name].columns)
        facts[name] = ColumnFacts(tuple(found[:arity]), min(1, found[0].size) if not arity else found[0].size)
    run = ColumnarRun(work.program, facts, machine, work.threads, Evaluation(options=work.options()))
    run.run(strata)

    def rows(name: str) -> Columns:
        relation = run.store[name]
        result: Columns = relation.columns() or [np.zeros(relation.size, np.int64)]
        return result

    return rows


def _reporting(work: Work, evaluate: Any, mesh: Mesh | None = None) -> Iterator[pa.RecordBatch]:
    """Rows and messages of a task. A mistake of the program's is a message too: Spark repeats a task that raises."""
    warnings = _Warnings({})
    machine = work.seed.machine(warnings)
    try:
        rows = evaluate(machine)
        yield from work.results(rows)
    except (FlintlogError, MemoryError, SnapshotDamaged) as error:
        failure = _failure(error)
        if mesh is not None:
            mesh.fail(pickle.dumps(failure))
        yield message_out("failed", failure, work.width)
    except RunFailed:
        pass  # the rank that failed sends the reason
    else:
        fresh = values_since(machine, len(work.seed.values))
        if fresh and work.seed.all:
            yield message_out("values", fresh, work.width)
    yield message_out("warnings", list(warnings.seen.items()), work.width)


def _failure(error: FlintlogError | MemoryError | SnapshotDamaged) -> list[Diagnostic]:
    if isinstance(error, FlintlogError):
        return list(error.diagnostics)
    if isinstance(error, SnapshotDamaged):
        return [Diagnostic("E933", str(error), note="a run has to begin again; is something else deleting its files?")]
    return [Diagnostic("E803", "a task has no more memory")]

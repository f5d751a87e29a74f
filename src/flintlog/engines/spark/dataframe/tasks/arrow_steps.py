"""Steps and folds over Arrow batches of words, for Spark tasks: those that SQL cannot express.

A value without a number leaves a task as a pickled value, beside a word without meaning: the driver numbers it.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.vector import Batch, Batches, Vectors, VectorStage
from flintlog.engines.reference.closures import Machine
from flintlog.ir.nodes import Fold, Schema, Step
from flintlog.ir.operations import fold_values, range_values
from flintlog.ir.scalar import Column, Scalar
from flintlog.ir.visit import columns_of
from flintlog.ir.words import Words
from flintlog.types import NAN, NEGATIVE_NAN, Adt, Kind, Value

if TYPE_CHECKING:
    from flintlog.engines.spark.dataframe.tasks.python_tasks import Report, Seed

# The most rows of a batch that an Each makes.
BATCH_ROWS = 1 << 17

Columns = dict[str, Array]
# A worker runs many tasks, and keeps their machines from one task to the next.
MOST_MACHINES = 4
_machines: dict[str, tuple[Machine | None, int, int]] = {}


def machine_of(seed: Seed, notify: Callable[[str], None]) -> Machine:
    """The machine of a run, with all values of the seed. It may have more values, from a later seed of the same run."""
    machine, loaded, values = _machines.pop(seed.token, (None, 0, 0))
    if machine is None:
        machine = Machine(Words(seed.word_size), seed.functions, lambda message, span: None)
    while len(_machines) >= MOST_MACHINES:
        del _machines[next(iter(_machines))]
    pieces = seed.pieces()
    if len(pieces) > loaded:
        machine.known.forget(values)  # a task that was killed may have numbered values of its own
        for piece in pieces[loaded:]:
            for value in piece():
                machine.known.learn(len(machine.known), settled(value))
        loaded, values = len(pieces), len(machine.known)
    _machines[seed.token] = machine, loaded, values
    machine.functions, machine.notify, machine.round = seed.functions, notify, seed.round
    return machine


def settled(value: Value) -> Value:
    """A value after unpickling, in which every NaN is one of the two NaN objects of the process."""
    if isinstance(value, float) and value != value:
        return NEGATIVE_NAN if math.copysign(1, value) < 0 else NAN
    if isinstance(value, Adt):
        return Adt(value.branch, tuple([settled(part) for part in value.args]))
    if isinstance(value, tuple):
        return tuple([settled(part) for part in value])
    return value


class _Writer:
    """Makes batches of results."""

    def __init__(self, machine: Machine, kinds: Sequence[Kind], report: Report) -> None:
        self.machine, self.kinds, self.report = machine, kinds, report
        self.known = len(machine.known)
        self.messages: dict[str, None] = {}

    def batch(self, columns: Sequence[Array], size: int) -> pa.RecordBatch:
        words = [pa.array(column) for column in columns] or [pa.array(np.zeros(size, np.int64))]
        fresh = [
            self._values_of(column, kind)
            for column, kind, is_fresh in zip(columns, self.kinds, self.report.fresh, strict=True)
            if is_fresh
        ]
        return self._record(words, fresh, pa.nulls(size, pa.string()))

    def forget(self) -> None:
        """Forgets the values that this task has numbered: other tasks give their numbers to other values."""
        self.machine.known.forget(self.known)

    def last(self) -> Iterator[pa.RecordBatch]:
        """The warnings, as rows without values."""
        if self.messages and self.report.says:
            size = len(self.messages)
            words = [pa.array(np.zeros(size, np.int64)) for _ in range(max(1, len(self.kinds)))]
            fresh = [pa.nulls(size, pa.binary()) for is_fresh in self.report.fresh if is_fresh]
            yield self._record(words, fresh, pa.array(list(self.messages), pa.string()))

    def _values_of(self, words: Array, kind: Kind) -> pa.Array:
        """The pickled values that only this task has numbered, and null elsewhere."""
        numbers = words if kind is Kind.SYMBOL else words - 1
        values = self.machine.known.values
        pickled = [pickle.dumps(values[n], 5) if n >= self.known else None for n in numbers.tolist()]
        return pa.array(pickled, pa.binary())

    def _record(self, words: list[pa.Array], fresh: list[pa.Array], messages: pa.Array) -> pa.RecordBatch:
        names = [f"c{i}" for i in range(len(words))]
        names += [f"v{i}" for i, is_fresh in enumerate(self.report.fresh) if is_fresh]
        columns = [*words, *fresh]
        if self.report.says:
            names.append("m")
            columns.append(messages)
        return pa.RecordBatch.from_arrays(columns, names)


# --- Steps ----------------------------------------------------------------------------------------


def run_steps(
    batches: Iterator[pa.RecordBatch],
    seed: Seed,
    schema: Schema,
    steps: Sequence[Step],
    output: Sequence[tuple[str, Scalar]],
    report: Report,
) -> Iterator[pa.RecordBatch]:
    """The result of steps and projection over rows with the columns of the schema."""
    messages: dict[str, None] = {}
    machine = machine_of(seed, lambda message: messages.setdefault(message))
    writer = _Writer(machine, [value.kind for _, value in output], report)
    writer.messages = messages
    vectors = _TaskVectors(machine)
    stages = [vectors.stage(step) for step in steps]
    values = [vectors.column(value) for _, value in output]
    for batch in batches:
        columns = {column.name: batch.column(i).to_numpy(zero_copy_only=False) for i, column in enumerate(schema)}
        for part, size in _through(columns, batch.num_rows, stages):
            if size:
                yield writer.batch([value(part, size) for value in values], size)
        writer.forget()
    yield from writer.last()


def _through(columns: Columns, size: int, stages: Sequence[VectorStage]) -> Batches:
    if not stages or not size:
        yield columns, size
        return
    for part, part_size in stages[0](columns, size):
        yield from _through(part, part_size, stages[1:])


class _TaskVectors(Vectors):
    """As in the embedded engine, but a range gives at most BATCH_ROWS rows at a time."""

    def each(self, column: Column, ends: Sequence[Array], batch: Batch) -> Batches:
        kind, rows, found = column.kind, [], []
        machine = self.machine
        bounds = zip(*([machine.value(word, kind) for word in end.tolist()] for end in ends), strict=True)
        for row, bound in enumerate(bounds):
            for value in range_values(bound, kind, machine.words):
                rows.append(row)
                found.append(machine.word(value, kind))
                if len(rows) >= BATCH_ROWS:
                    yield _picked(batch, rows, column, found)
                    rows, found = [], []
        yield _picked(batch, rows, column, found)


def _picked(batch: Batch, rows: list[int], column: Column, found: list[int]) -> tuple[Columns, int]:
    at = np.array(rows, np.int64)
    picked = {name: values[at] for name, values in batch.items()}
    return {**picked, column.name: np.array(found, np.int64)}, at.size


# --- Folds ----------------------------------------------------------------------------------------


def run_fold(
    batches: Iterator[pa.RecordBatch],
    seed: Seed,
    schema: Schema,
    by: Sequence[str],
    fold: Fold,
    report: Report,
    present: bool,
) -> Iterator[pa.RecordBatch]:
    """A row for each group: its `by` columns and the fold of its rows, which are adjacent. With `present`, the last
    column is 0 in a row that stands for an empty group."""
    messages: dict[str, None] = {}
    machine = machine_of(seed, lambda message: messages.setdefault(message))
    folder = _Folder(machine, schema, by, fold)
    kinds = [next(c.kind for c in schema if c.name == name) for name in by]
    writer = _Writer(machine, [*kinds, fold.kind], report)
    writer.messages = messages
    group: tuple[int, ...] | None = None
    items: list[Any] = []
    done: list[tuple[int, ...]] = []
    for batch in batches:
        columns = {column.name: batch.column(i).to_numpy(zero_copy_only=False) for i, column in enumerate(schema)}
        size = batch.num_rows
        there = batch.column(len(schema)).to_numpy(zero_copy_only=False).tolist() if present else [1] * size
        values = folder.values(columns, size, np.flatnonzero(there))
        keys = list(zip(*(columns[name].tolist() for name in by), strict=True)) if by else [()] * size
        for key, value, is_there in zip(keys, values, there, strict=True):
            if key != group:
                if group is not None:
                    done += folder.folded(group, items)
                group, items = key, []
            if is_there:
                items.append(value)
        if len(done) >= BATCH_ROWS:
            yield _rows_out(writer, done)
            done = []
            writer.forget()
    if group is not None:
        done += folder.folded(group, items)
    if done:
        yield _rows_out(writer, done)
    writer.forget()
    yield from writer.last()


def _rows_out(writer: _Writer, rows: list[tuple[int, ...]]) -> pa.RecordBatch:
    return writer.batch([np.array(column, np.int64) for column in zip(*rows, strict=True)], len(rows))


class _Folder:
    def __init__(self, machine: Machine, schema: Schema, by: Sequence[str], fold: Fold) -> None:
        self.machine, self.fold = machine, fold
        kinds = {column.name: column.kind for column in schema}
        # Only the key columns that `init` reads: the machine may not have the values of others.
        first = [(i, name) for i, name in enumerate(by) if fold.init is not None and name in columns_of(fold.init)]
        self._read = [(i, kinds[name]) for i, name in first]
        self._init = machine.scalar(fold.init, {name: i for i, (_, name) in enumerate(first)}) if fold.init else None
        self._value = Vectors(machine).column(fold.value) if fold.value is not None else None

    def values(self, columns: Columns, size: int, there: Array) -> list[Any]:
        """The value to fold of each row; None for rows that stand for empty groups."""
        values: list[Any] = [None] * size
        if self._value is None or not there.size:
            return values
        assert self.fold.value is not None
        kind = self.fold.value.kind
        some = {name: column[there] for name, column in columns.items()} if there.size < size else columns
        words = self._value(some, there.size).tolist()
        for row, word in zip(there.tolist(), words, strict=True):
            values[row] = self.machine.value(word, kind)
        return values

    def folded(self, key: tuple[int, ...], items: list[Any]) -> list[tuple[int, ...]]:
        """The group's row, unless it has none."""
        fold, machine = self.fold, self.machine
        if not items and not fold.has_default:
            return []
        if self._init is not None:
            total = self._init(tuple([machine.value(key[i], kind) for i, kind in self._read]))
            for item in items:
                total = machine.functions[fold.op[1:]](total, item)
        else:
            total = fold_values(fold.op, items, fold.kind, machine.words)
        return [(*key, machine.word(total, fold.kind))]

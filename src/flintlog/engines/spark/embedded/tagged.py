"""Several relations in one frame: how rows go into tasks and come out of them.

Rows carry the number of their relation in `r` and their words in `c0`, `c1`, …; a task's messages to the driver have
MESSAGE there, and their pickled content in `v`.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    Columns = list[NDArray[np.int64]]

MESSAGE = -1
# Rows of a batch that a task hands to Spark.
BATCH_ROWS = 1 << 18


def width_of(arity: int) -> int:
    """A relation without columns has one column of words."""
    return max(1, arity)


def tagged(frames: Sequence[tuple[int, DataFrame, Column | None]], width: int) -> DataFrame:
    """One frame of several, each with its number, and the task its rows go to in `k` where a column says that."""
    parts = []
    for number, frame, task in frames:
        words = [f.col(name) for name in frame.columns]
        rest = [f.lit(None).cast("bigint") for _ in range(width - len(words))]
        columns = [column.alias(f"c{i}") for i, column in enumerate([*words, *rest])]
        where = [task.alias("k")] if task is not None else []
        parts.append(frame.select(f.lit(number).cast("int").alias("r"), *where, *columns))
    result = parts[0]
    for part in parts[1:]:
        result = result.unionAll(part)
    return result


def output_schema(width: int) -> str:
    columns = ", ".join(f"c{i} bigint" for i in range(width))
    return f"r int, {columns}, v binary"


def untagged(frame: DataFrame, number: int, arity: int) -> DataFrame:
    """One relation's word frame out of a frame that tasks have made."""
    return frame.where(f.col("r") == number).select(*(f"c{i}" for i in range(width_of(arity))))


def rows_in(
    batches: Iterable[pa.RecordBatch], arities: Sequence[int], task: bool
) -> Iterator[tuple[int, int, Columns]]:
    """The rows that come into a task: the number of their relation, that of their task (0 without `task`), columns."""
    for batch in batches:
        if not batch.num_rows:
            continue
        numbers = batch.column("r").to_numpy()
        tasks = batch.column("k").to_numpy() if task else np.zeros(1, np.int32)
        for number in np.unique(numbers).tolist():
            for k in np.unique(tasks).tolist():
                chosen = (numbers == number) & (tasks == k)
                count = int(np.count_nonzero(chosen))
                if not count:
                    continue
                whole = count == batch.num_rows
                part = batch if whole else batch.filter(pa.array(chosen))
                columns = [part.column(f"c{i}").to_numpy() for i in range(width_of(arities[number]))]
                yield number, k, columns


def gathered(parts: Mapping[int, Sequence[Columns]]) -> dict[int, Columns]:
    return {
        number: [np.concatenate(column) for column in zip(*columns, strict=True)] for number, columns in parts.items()
    }


def rows_out(number: int, columns: Columns, width: int) -> Iterator[pa.RecordBatch]:
    """A relation's rows as a task hands them to Spark."""
    for start in range(0, columns[0].size, BATCH_ROWS):
        part = [pa.array(column[start : start + BATCH_ROWS]) for column in columns]
        size = len(part[0])
        part += [pa.nulls(size, pa.int64()) for _ in range(width - len(columns))]
        yield _batch(pa.array(np.full(size, number, np.int32)), part, pa.nulls(size, pa.binary()))


def narrowed(table: pa.Table) -> pa.Table:
    """The same words, in 32 bits where all words of a column fit."""

    def narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
        ends = pc.min_max(column).as_py()
        fits = ends["min"] is not None and ends["min"] >= -(1 << 31) and ends["max"] < 1 << 31
        return column.cast(pa.int32()) if fits else column

    return pa.table({name: narrow(table[name]) for name in table.column_names})


def table_of(parts: Sequence[Columns], arity: int) -> pa.Table:
    """One word table of the parts that tasks have sent as messages."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else []
    columns = columns or [np.empty(0, np.int64)] * width_of(arity)
    return pa.table({f"c{i}": column for i, column in enumerate(columns)})


def message_out(kind: str, content: Any, width: int) -> pa.RecordBatch:
    """A message from a task to the driver."""
    words = [pa.nulls(1, pa.int64()) for _ in range(width)]
    return _batch(pa.array([MESSAGE], pa.int32()), words, pa.array([pickle.dumps((kind, content))], pa.binary()))


def messages_of(frame: DataFrame, *, alone: bool = False) -> list[tuple[str, Any]]:
    """The messages of the tasks; `alone` where the frame has no rows beside them. Runs the job unless it has run."""
    rows = (frame if alone else frame.where(f.col("r") == MESSAGE)).select("v").collect()
    return [pickle.loads(bytes(row["v"])) for row in rows]


def _batch(numbers: pa.Array, words: list[pa.Array], messages: pa.Array) -> pa.RecordBatch:
    names = ["r", *(f"c{i}" for i in range(len(words))), "v"]
    return pa.RecordBatch.from_arrays([numbers, *words, messages], names)

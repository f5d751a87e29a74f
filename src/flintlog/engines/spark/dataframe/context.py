"""The settings and callbacks of a run that the plans of a stratum depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flintlog.engines.reference.closures import Machine
from flintlog.source import Span
from flintlog.types import Value


@dataclass
class Context:
    """Settings and callbacks.

    - `machine` gives the machine with all values of the run; `add_values` returns the numbers of values, and gives the
      next numbers to values that have none.
    - `sets`: the relations that hold every row once. Facts may repeat rows.
    - `partitions`: the number of partitions of large relations. The rows of a stratum with at most `small_rows` rows
      are in one partition: no row moves then, and a round is a single task.
    - `checkpoint_dir`: the directory to which all rows are saved every `checkpoint_every` rounds, so that rounds are
      not lost with an executor.
    - `hash_rows`: how many rows of a relation a task may keep in a hash table; with more rows it sorts, because sorting
      spills to disk.
    - `describe` gets a name for the jobs that follow; `progress` gets the number of a round, its new rows, and the rows
      in total.
    """

    machine: Callable[[], Machine]
    add_values: Callable[[Sequence[Value]], list[int]]
    word_size: int = 64
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    notify: Callable[[str, Span], None] = lambda message, span: None
    sets: frozenset[str] = frozenset()
    partitions: int = 2
    checkpoint_dir: str | None = None
    checkpoint_every: int = 20
    describe: Callable[[str], None] = lambda text: None
    progress: Callable[[int, int, int], None] = lambda round, delta, rows: None
    spark_connect: bool = False
    small_rows: int = 100_000
    hash_rows: int = 2_000_000

"""What a stratum's plans need to know beside the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flintlog.engines.reference.closures import Machine
from flintlog.source import Span
from flintlog.types import Value


@dataclass
class Context:
    """What the rest of a run gives to a stratum.

    - `machine`: the machine with all values; `add_values` gives numbers to values that rules make, and to those that
      have one already, that.
    - `sets`: relations that are known to hold every row once; facts need not.
    - `partitions`: how many parts large relations have. Strata of fewer than `small_rows` rows have one: no row of
      them moves then, and a round is a single task.
    - `checkpoint_dir`: where everything is saved every `checkpoint_every` rounds, so that rounds are not lost with an
      executor.
    - `broadcast_limit`: bytes of an input that may stand in every task.
    - `hash_rows`: how many rows of a relation a task may keep in a hash table; beyond, it sorts, which spills.
    - `describe` names the jobs to come; `progress` hears of rounds: their number, new rows, rows in total.
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
    broadcast_limit: int = 512 << 20
    describe: Callable[[str], None] = lambda text: None
    progress: Callable[[int, int, int], None] = lambda round, delta, rows: None
    spark_connect: bool = False
    small_rows: int = 100_000
    hash_rows: int = 2_000_000

"""Where rows stand when several tasks hold a run together, and how they reach one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from flintlog.engines.queries.best import Best
from flintlog.ir.program import Program

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Columns: TypeAlias = list[NDArray[numpy.int64]]

# In a Copy: its rows stand in every task; in the first one only.
EVERYWHERE, FIRST = -1, -2


# The bits that are folded into the low ones before a value is divided by the number of tasks.
FOLDED = (9, 20, 37)


def owner(column: NDArray[numpy.int64], tasks: int) -> NDArray[numpy.int64]:
    """The task to which each value sends its row. Shifts and exclusive ors only: Spark computes the same, in any mode.

    >>> import numpy
    >>> owner(numpy.array([0, 1, 2, -1]), 2).tolist()
    [0, 1, 0, 0]
    """
    import numpy as np

    words = column.view(np.uint64)
    mixed = words.copy()
    for shift in FOLDED:
        mixed ^= words >> np.uint64(shift)
    return np.mod(mixed.view(np.int64), tasks)


@dataclass(frozen=True)
class Copy:
    """The rows of a relation, spread over tasks by the value in a column, or all of them EVERYWHERE, or in the FIRST
    task. Rules call it by `name`."""

    name: str
    relation: str
    column: int


@dataclass(frozen=True)
class Placement:
    """A program whose rules read copies and write relations. The first copy of a relation is its home: every row has
    one task there, which knows whether it is new. `best` are the relations that keep one value a key."""

    program: Program
    copies: Mapping[str, tuple[Copy, ...]]
    best: Mapping[str, Best] = field(default_factory=dict)

    def home(self, relation: str) -> Copy:
        return self.copies[relation][0]


@dataclass(frozen=True)
class Snapshot:
    """What a task had after a round of a stratum: its rows of the relations computed until then, by name. Those of a
    relation without columns are a column of zeros."""

    stratum: int
    round: int
    rows: Mapping[str, Columns]


class Exchange(Protocol):
    """How tasks reach one another. All of them call `all_to_all` equally often."""

    rank: int
    ranks: int

    def all_to_all(
        self, numbers: tuple[int, ...], batches: Sequence[Sequence[tuple[int, Columns]]]
    ) -> tuple[tuple[int, ...], list[tuple[int, Columns]]]:
        """Sends tagged columns to every rank; returns the sums of everybody's numbers, and what was sent to here."""


class Keeper(Protocol):
    """Who keeps snapshots of a task's rows."""

    def wants(self, round: int) -> bool:
        """Whether it is time for one. If one task says so, all make one."""

    def keep(self, snapshot: Snapshot) -> None: ...

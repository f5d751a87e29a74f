"""Which tasks have which rows when several evaluate strata together, and what they exchange and keep."""

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

# In place of a Copy's column: every task has all rows; the first task has them.
EVERYWHERE, FIRST = -1, -2


# The bits that are folded into the low ones before a value is divided by the number of tasks.
FOLDED = (9, 20, 37)


def owner(column: NDArray[numpy.int64], tasks: int) -> NDArray[numpy.int64]:
    """The task that has each row, by the values in one of its columns. Spark's expressions compute the same: shifts and
    exclusive ors never fail, in ANSI mode either.

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
    """One way in which tasks have a relation's rows: spread by the value in a column, all of them EVERYWHERE, or in the
    FIRST task. Rules read it by `name`."""

    name: str
    relation: str
    column: int


@dataclass(frozen=True)
class Placement:
    """A program whose rules read copies and write relations. The first copy of a relation is its home: every row has
    one task there, which knows whether it is new. `best` has the relations that keep one value for each key."""

    program: Program
    copies: Mapping[str, tuple[Copy, ...]]
    best: Mapping[str, Best] = field(default_factory=dict)

    def home(self, relation: str) -> Copy:
        return self.copies[relation][0]


@dataclass(frozen=True)
class Snapshot:
    """A task's rows after a round of a stratum: of all relations computed until then, by name. The rows of a relation
    without columns are a column of zeros."""

    stratum: int
    round: int
    rows: Mapping[str, Columns]


class Exchange(Protocol):
    """Takes rows from task to task. Every task calls `all_to_all` equally often."""

    rank: int
    ranks: int

    def all_to_all(
        self, numbers: tuple[int, ...], batches: Sequence[Sequence[tuple[int, Columns]]]
    ) -> tuple[tuple[int, ...], list[tuple[int, Columns]]]:
        """Sends tagged columns to every rank; returns the sums of all ranks' numbers, and the columns for this rank."""


class Keeper(Protocol):
    """Keeps snapshots of a task's rows."""

    def wants(self, round: int) -> bool:
        """Whether a snapshot is due. If one task says so, all tasks make one."""

    def keep(self, snapshot: Snapshot) -> None: ...

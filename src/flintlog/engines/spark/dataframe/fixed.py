"""The rows that stay the same in all rounds: inputs, shared subplans, and parts of rules that read nothing else. Each
is computed once, and persisted with the partitioning that its joins need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.frames import known_rows
from flintlog.engines.spark.data.plain import column_names
from flintlog.engines.spark.dataframe.sql.scalars import quoted
from flintlog.engines.spark.dataframe.sql.texts import SALT, Rows, Salted, in_one_partition, salts_of
from flintlog.engines.spark.dataframe.workspace import PersistedRows, Workspace
from flintlog.ir.program import Program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A key is spread if it has more than 1/SHARE of the rows of an average partition, and the copy WORTH_SALT rows.
SHARE, WORTH_SALT = 4, 50_000
# How many numbers per partition are tried as salts.
TRIED = 16
# The most partitions over which a key is spread: every text that reads the copy lists the salts of each such key.
MOST_PARTITIONS = 32


@dataclass
class Inputs:
    """The frames that a stratum reads, by relation, with their views and numbers of rows."""

    workspace: Workspace
    frames: Mapping[str, DataFrame]
    program: Program
    counts: dict[str, int]
    views: dict[str, str] = field(default_factory=dict)

    def count(self, names: Iterable[str]) -> int:
        """The rows of some relations together. One job counts the relations whose number of rows is not known."""
        for name in names:
            rows = known_rows(self.frames[name]) if name in self.frames else 0
            if rows is not None:
                self.counts.setdefault(name, rows)
        unknown = [name for name in names if name not in self.counts]
        if unknown:
            texts = [f"SELECT {i} AS i, count(*) AS n FROM {self.view(name)}" for i, name in enumerate(unknown)]
            for i, rows in self.workspace.sql(" UNION ALL ".join(texts)).collect():
                self.counts[unknown[i]] = rows
        return sum(self.counts[name] for name in names)

    def view(self, name: str) -> str:
        if name not in self.views:
            self.views[name] = self.workspace.view(self.workspace.adopted(self.frames[name]))
        return self.views[name]

    def text(self, name: str) -> str:
        arity = len(self.program.relations[name].columns)
        # Columns that cannot be null make shorter plans.
        what = ", ".join(f"coalesce({column}, 0L) AS {column}" for column in column_names(arity))
        return f"SELECT {what} FROM {self.view(name)}"


@dataclass
class FixedRows:
    """Persisted copies of fixed rows. The key of a copy is its origin (the name of a relation, or a node), and the
    positions of the columns by which it is partitioned."""

    workspace: Workspace
    describe: Callable[[str], None]
    partitions: int = 1
    copies: dict[tuple[object, tuple[int, ...]], PersistedRows] = field(default_factory=dict)
    _salted: dict[tuple[object, tuple[int, ...]], Salted | None] = field(default_factory=dict)
    _spread_copies: list[PersistedRows] = field(default_factory=list)

    def rows(self, key: object, arity: int, wanted: tuple[int, ...], text: Callable[[], str]) -> Rows:
        """The rows of a copy, which is computed from `text` when it is first asked for."""
        wanted = () if self.partitions == 1 else wanted
        found = self.copies.get((key, wanted))
        if found is None:
            found = self.copies[key, wanted] = self._make(text(), arity, wanted)
        return Rows(f"SELECT * FROM {found.view}", found.rows)

    def _make(self, text: str, arity: int, wanted: tuple[int, ...]) -> PersistedRows:
        self.describe("inputs")
        names = column_names(arity)
        if self.partitions == 1:
            text = in_one_partition(text)
        elif wanted:
            columns = ", ".join(names[i] for i in wanted)
            text = f"SELECT /*+ REPARTITION({self.partitions}, {columns}) */ * FROM ({text})"
        return self.workspace.persist([self.workspace.sql(text)])[0]

    def salted(self, key: object, arity: int, wanted: tuple[int, ...], text: Callable[[], str]) -> Salted | None:
        """A copy of which some keys are spread over several partitions; None if no key has too many rows for one."""
        if self.partitions == 1 or not wanted or len(wanted) == arity:
            return None
        if (key, wanted) not in self._salted:
            self.rows(key, arity, wanted, text)
            self._salted[key, wanted] = self._spread(self.copies[key, wanted], arity, wanted)
        return self._salted[key, wanted]

    def _spread(self, copy: PersistedRows, arity: int, wanted: tuple[int, ...]) -> Salted | None:
        if copy.rows < WORTH_SALT:
            return None
        names = column_names(arity)
        key = [names[i] for i in wanted]
        least = copy.rows // (SHARE * min(self.partitions, MOST_PARTITIONS))
        hot = f"SELECT {', '.join(key)} FROM {copy.view} GROUP BY {', '.join(key)} HAVING count(*) > {least}L"
        salts = self._salts(hot, key)
        if not salts:
            return None
        listed = salts_of(key, salts)
        salt = f"element_at({listed}, 1 + pmod(hash({', '.join(names)}), size({listed})))"
        text = f"SELECT *, {salt} AS {quoted(SALT)} FROM {copy.view}"
        hint = f"/*+ REPARTITION({self.partitions}, {', '.join(key)}, {quoted(SALT)}) */"
        spread = self.workspace.persist([self.workspace.sql(f"SELECT {hint} * FROM ({text})")])[0]
        self._spread_copies.append(spread)
        return Salted(Rows(f"SELECT * FROM {spread.view}", spread.rows), salts)

    def _salts(self, hot: str, key: Sequence[str]) -> dict[tuple[int, ...], list[int]]:
        """For each key that a text selects, salts that lead to different partitions: Spark partitions by this
        `hash`."""
        partition = f"pmod(hash({', '.join(key)}, salt), {self.partitions})"
        tried = f"SELECT explode(sequence(0, {TRIED * self.partitions})) AS salt, * FROM ({hot})"
        found = f"SELECT {', '.join(key)}, min(salt) AS salt FROM ({tried}) GROUP BY {', '.join(key)}, {partition}"
        salts: dict[tuple[int, ...], list[int]] = {}
        for row in self.workspace.sql(found).collect():
            salts.setdefault(tuple(row)[:-1], []).append(row[-1])
        return {key: sorted(some)[:MOST_PARTITIONS] for key, some in salts.items()}

    def clear(self) -> None:
        """Drops all copies."""
        for copy in [*self.copies.values(), *self._spread_copies]:
            self.workspace.free(copy)
        self.copies.clear()
        self._salted.clear()
        self._spread_copies.clear()

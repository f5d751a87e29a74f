"""A relation of the stratum, persisted in parts: each round appends a part with its new rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from flintlog.engines.queries.best import Best
from flintlog.engines.spark.data.plain import column_names
from flintlog.engines.spark.dataframe.sql.folds import best_text
from flintlog.engines.spark.dataframe.sql.scalars import Scalars
from flintlog.engines.spark.dataframe.sql.texts import Rows, distinct, in_one_partition
from flintlog.engines.spark.dataframe.workspace import PersistedRows
from flintlog.ir.program import Relation

# Moving a part of so many rows to another partitioning takes longer than joining the part by itself.
LARGE = 50_000


@dataclass
class Growing:
    """`parts` have no row in common. With `best`, several parts may have rows of a key, and the newest has the best
    value. `delta` is the part of the last round, if that found new rows. `join_columns` are the positions of the
    columns by which rules join the relation; `partition_columns` those by which the rows are partitioned. They are the
    same, or `partition_columns` is empty: then the rows are partitioned by `key`."""

    relation: Relation
    best: Best | None
    join_columns: tuple[int, ...]
    partition_columns: tuple[int, ...] = field(init=False)
    parts: list[PersistedRows] = field(default_factory=list)
    delta: PersistedRows | None = None

    def __post_init__(self) -> None:
        self.partition_columns = self.join_columns

    @property
    def names(self) -> list[str]:
        return column_names(len(self.relation.columns))

    @property
    def key(self) -> list[str]:
        """The columns that tell rows apart: all, but for the one with best values."""
        return [n for i, n in enumerate(self.names) if self.best is None or i != self.best.position]

    @property
    def rows(self) -> int:
        """The number of rows; with `best`, an upper bound of it."""
        return sum(part.rows for part in self.parts)

    @property
    def older(self) -> list[PersistedRows]:
        """All parts but the last round's."""
        return [part for part in self.parts if part is not self.delta]

    # --- Texts ------------------------------------------------------------------------------------

    def whole(self, single: bool, scalars: Scalars, *, without_delta: bool = False) -> str:
        """All rows, or all but the last round's. `single`: all parts are in one partition, and so is the result."""
        parts = self.older if without_delta else self.parts
        text = together(parts, single, self.names)
        return self.condensed(text, scalars) if len(parts) > 1 else text

    def pieces(self, wanted: Collection[int], *, without_delta: bool = False) -> tuple[Rows, ...]:
        """The rows of `whole` in pieces: each large part by itself, and the small parts together. There are no pieces
        with `best`, without large parts, or if a join by the columns at `wanted` has to partition the rows anew."""
        parts = self.older if without_delta else self.parts
        large = [part for part in parts if part.rows >= LARGE]
        stays = bool(self.partition_columns) and {*self.partition_columns} <= {*wanted}
        if self.best is not None or not stays or not large or len(parts) == 1:
            return ()
        groups = [*([part] for part in large), [part for part in parts if part not in large]]
        return tuple(Rows(together(g, False, self.names), sum(part.rows for part in g)) for g in groups if g)

    def condensed(self, text: str, scalars: Scalars) -> str:
        """With `best`, the best row of each key; otherwise the text as it is."""
        if self.best is None:
            return text
        column = self.names[self.best.position]
        kind = self.relation.kinds[self.best.position]
        return best_text(text, self.key, column, self.best.sign, kind, self.names, scalars)

    def candidates(self, texts: Sequence[str], single: bool, scalars: Scalars) -> str:
        """The rows that rules derive in a round, each once; with `best`, the best row of each key."""
        text = all_of(texts, single)
        return distinct(text) if self.best is None else self.condensed(text, scalars)

    def repartitioned(self, text: str, partitions: int) -> str:
        """The rows of a text, partitioned like the relation's parts."""
        names = [self.names[i] for i in self.partition_columns] or self.key or self.names
        return f"SELECT /*+ REPARTITION({partitions}, {', '.join(names)}) */ * FROM ({text})"

    def unknown(self, text: str, known: str, hint: str, scalars: Scalars) -> str:
        """The candidates that are not among the known rows; with `best`, those that are better than the known ones."""
        tests, what = self._tests(scalars)
        return f"SELECT {hint} {what} FROM ({text}) l LEFT ANTI JOIN ({known}) r ON {tests}"

    def unknown_of_few(self, text: str, known: str, hint: str, scalars: Scalars) -> str:
        """The rows of `unknown`, by an outer join: there Spark can build its hash table of the candidates and stream
        the known rows, which an anti join cannot."""
        tests, what = self._tests(scalars)
        met = f"SELECT {hint} {what}, r.{self.names[0]} AS met FROM ({text}) l LEFT OUTER JOIN ({known}) r ON {tests}"
        return f"SELECT {', '.join(self.names)} FROM ({met}) WHERE met IS NULL"

    def _tests(self, scalars: Scalars) -> tuple[str, str]:
        """The condition under which the known row r rules out the candidate l, and the columns of l."""
        tests = [f"l.{name} = r.{name}" for name in self.key]
        if self.best is not None:
            column, kind = self.names[self.best.position], self.relation.kinds[self.best.position]
            new, old = scalars.ordered(f"l.{column}", kind), scalars.ordered(f"r.{column}", kind)
            tests.append(f"{old} {'<=' if self.best.sign > 0 else '>='} {new}")
        return " AND ".join(tests), ", ".join(f"l.{name}" for name in self.names)


def together(parts: Sequence[PersistedRows], single: bool, names: Sequence[str]) -> str:
    """The rows of all parts."""
    if not parts:
        return f"SELECT {', '.join(f'0L AS {name}' for name in names)} WHERE false"
    return all_of([f"SELECT * FROM {part.view}" for part in parts], single)


def all_of(texts: Sequence[str], single: bool) -> str:
    """The rows of all texts. `single`: they are in one partition, and so is the result."""
    text = " UNION ALL ".join(texts)
    return in_one_partition(text) if single and len(texts) > 1 else text

"""A relation that rounds add rows to: kept in parts, of which the last is the newest round's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from flintlog.engines.queries.best import Best
from flintlog.engines.spark.dataframe.sql.folds import best_text
from flintlog.engines.spark.dataframe.sql.scalars import Scalars
from flintlog.engines.spark.dataframe.sql.texts import Rows, distinct, in_one_place, place_names
from flintlog.engines.spark.dataframe.workspace import Kept
from flintlog.ir.program import Relation

# A part of so many rows takes longer to move than to be joined for itself.
LARGE = 50_000


@dataclass
class Growing:
    """`parts` have no row in common. With `best`, a key may stand in several parts, and the newest has the best value
    for it. `delta` is the part of the last round, if that brought anything. `joined` are the positions of the columns
    by which rules join the relation; `placed` those by which rows are placed: the same, or none, which means all that
    tell rows apart."""

    relation: Relation
    best: Best | None
    joined: tuple[int, ...]
    placed: tuple[int, ...] = field(init=False)
    parts: list[Kept] = field(default_factory=list)
    delta: Kept | None = None

    def __post_init__(self) -> None:
        self.placed = self.joined

    @property
    def names(self) -> list[str]:
        return place_names(len(self.relation.columns))

    @property
    def key(self) -> list[str]:
        """The columns that tell rows apart."""
        return [n for i, n in enumerate(self.names) if self.best is None or i != self.best.position]

    @property
    def rows(self) -> int:
        """How many rows there are; with `best`, at most so many."""
        return sum(part.rows for part in self.parts)

    @property
    def older(self) -> list[Kept]:
        """The parts but the last round's."""
        return [part for part in self.parts if part is not self.delta]

    # --- Texts ------------------------------------------------------------------------------------

    def whole(self, single: bool, scalars: Scalars, *, without_delta: bool = False) -> str:
        """All rows, or all older than the last round's. `single`: all parts are in one place, and stay there."""
        parts = self.older if without_delta else self.parts
        text = together(parts, single, self.names)
        return self.condensed(text, scalars) if len(parts) > 1 else text

    def pieces(self, wanted: Collection[int], *, without_delta: bool = False) -> tuple[Rows, ...]:
        """The same in pieces: each part that is large, and the small ones together. None where rows must move anyhow to
        be in places by the columns at the positions `wanted`, and where there is but one part."""
        parts = self.older if without_delta else self.parts
        large = [part for part in parts if part.rows >= LARGE]
        if self.best is not None or not self.placed or not {*self.placed} <= {*wanted} or not large or len(parts) == 1:
            return ()
        groups = [*([part] for part in large), [part for part in parts if part not in large]]
        return tuple(Rows(together(g, False, self.names), sum(part.rows for part in g)) for g in groups if g)

    def condensed(self, text: str, scalars: Scalars) -> str:
        """One row for each key, where several parts may have some."""
        if self.best is None:
            return text
        column = self.names[self.best.position]
        kind = self.relation.kinds[self.best.position]
        return best_text(text, self.key, column, self.best.sign, kind, self.names, scalars)

    def candidates(self, texts: Sequence[str], single: bool, scalars: Scalars) -> str:
        """What rules derive in a round, each row (or each key, with the best value) once."""
        text = all_of(texts, single)
        return distinct(text) if self.best is None else self.condensed(text, scalars)

    def distributed(self, text: str, partitions: int) -> str:
        """Rows in the places they have in all parts."""
        names = [self.names[i] for i in self.placed] or self.key or self.names
        return f"SELECT /*+ REPARTITION({partitions}, {', '.join(names)}) */ * FROM ({text})"

    def unknown(self, text: str, known: str, hint: str, scalars: Scalars) -> str:
        """The candidates that are new with respect to known rows: those that are not among them, or are better."""
        tests, what = self._tests(scalars)
        return f"SELECT {hint} {what} FROM ({text}) l LEFT ANTI JOIN ({known}) r ON {tests}"

    def unknown_of_few(self, text: str, known: str, hint: str, scalars: Scalars) -> str:
        """The same. Here the candidates may be in a hash table, and known rows pass by: of the kinds of join that tell
        what has not been met, Spark has this one for it."""
        tests, what = self._tests(scalars)
        met = f"SELECT {hint} {what}, r.{self.names[0]} AS met FROM ({text}) l LEFT OUTER JOIN ({known}) r ON {tests}"
        return f"SELECT {', '.join(self.names)} FROM ({met}) WHERE met IS NULL"

    def _tests(self, scalars: Scalars) -> tuple[str, str]:
        """When the row r makes l superfluous, and the columns of l."""
        tests = [f"l.{name} = r.{name}" for name in self.key]
        if self.best is not None:
            column, kind = self.names[self.best.position], self.relation.kinds[self.best.position]
            new, old = scalars.ordered(f"l.{column}", kind), scalars.ordered(f"r.{column}", kind)
            tests.append(f"{old} {'<=' if self.best.sign > 0 else '>='} {new}")
        return " AND ".join(tests), ", ".join(f"l.{name}" for name in self.names)


def together(parts: Sequence[Kept], single: bool, names: Sequence[str]) -> str:
    """The rows of all parts."""
    if not parts:
        return f"SELECT {', '.join(f'0L AS {name}' for name in names)} WHERE false"
    return all_of([f"SELECT * FROM {part.view}" for part in parts], single)


def all_of(texts: Sequence[str], single: bool) -> str:
    """The rows of all texts. `single`: they are in one place, and stay there."""
    text = " UNION ALL ".join(texts)
    return in_one_place(text) if single and len(texts) > 1 else text

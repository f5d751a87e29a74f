"""What stays as it is while a stratum is evaluated: its inputs, shared subplans, parts of rules that read only those.
Each is computed once, and kept in the places where joins look for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.frames import known_rows
from flintlog.engines.spark.dataframe.sql.scalars import quoted
from flintlog.engines.spark.dataframe.sql.texts import SALT, Rows, Salted, in_one_place, place_names, salts_of
from flintlog.engines.spark.dataframe.workspace import Kept, Workspace
from flintlog.ir.program import Program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Keys with more than this part of what a place has on average, if the rows are worth the trouble.
SHARE, WORTH_SALT = 4, 50_000
# Numbers that are tried for every place, until one sends a key there.
TRIED = 16
# Places over which a key is spread at most: every text that reads the copy lists them, for each such key.
MOST_PLACES = 32


@dataclass
class Inputs:
    """The frames a stratum reads, by relation: views of them, and how many rows they have."""

    workspace: Workspace
    frames: Mapping[str, DataFrame]
    program: Program
    counts: dict[str, int]
    views: dict[str, str] = field(default_factory=dict)

    def count(self, names: Iterable[str]) -> int:
        """The rows of some relations together; one job counts those of which nobody knows it."""
        for name in names:
            rows = known_rows(self.frames[name]) if name in self.frames else 0
            if rows is not None:
                self.counts.setdefault(name, rows)
        unknown = [name for name in names if name not in self.counts]
        if unknown:
            texts = [f"SELECT {i} AS i, count(*) AS n FROM {self.view(name)}" for i, name in enumerate(unknown)]
            for place, rows in self.workspace.sql(" UNION ALL ".join(texts)).collect():
                self.counts[unknown[place]] = rows
        return sum(self.counts[name] for name in names)

    def view(self, name: str) -> str:
        if name not in self.views:
            self.views[name] = self.workspace.view(self.workspace.adopted(self.frames[name]))
        return self.views[name]

    def text(self, name: str) -> str:
        arity = len(self.program.relations[name].columns)
        # Columns that cannot be null make shorter plans.
        what = ", ".join(f"coalesce({column}, 0L) AS {column}" for column in place_names(arity))
        return f"SELECT {what} FROM {self.view(name)}"


@dataclass
class Fixed:
    """Kept copies, by what they are a copy of (a relation's name or a node) and the columns that place their rows."""

    workspace: Workspace
    describe: Callable[[str], None]
    partitions: int = 1
    kept: dict[tuple[object, tuple[int, ...]], Kept] = field(default_factory=dict)
    _salted: dict[tuple[object, tuple[int, ...]], Salted | None] = field(default_factory=dict)
    _spread_copies: list[Kept] = field(default_factory=list)

    def rows(self, key: object, arity: int, wanted: tuple[int, ...], text: Callable[[], str]) -> Rows:
        """A copy's text, made the first time."""
        wanted = () if self.partitions == 1 else wanted
        found = self.kept.get((key, wanted))
        if found is None:
            found = self.kept[key, wanted] = self._make(text(), arity, wanted)
        return Rows(f"SELECT * FROM {found.view}", found.rows)

    def _make(self, text: str, arity: int, wanted: tuple[int, ...]) -> Kept:
        self.describe("inputs")
        names = place_names(arity)
        if self.partitions == 1:
            text = in_one_place(text)
        elif wanted:
            columns = ", ".join(names[i] for i in wanted)
            text = f"SELECT /*+ REPARTITION({self.partitions}, {columns}) */ * FROM ({text})"
        return self.workspace.keep([self.workspace.sql(text)])[0]

    def salted(self, key: object, arity: int, wanted: tuple[int, ...], text: Callable[[], str]) -> Salted | None:
        """A copy of which some keys are spread over all places, if some have too many rows for one."""
        if self.partitions == 1 or not wanted or len(wanted) == arity:
            return None
        if (key, wanted) not in self._salted:
            self.rows(key, arity, wanted, text)
            self._salted[key, wanted] = self._spread(self.kept[key, wanted], arity, wanted)
        return self._salted[key, wanted]

    def _spread(self, copy: Kept, arity: int, wanted: tuple[int, ...]) -> Salted | None:
        if copy.rows < WORTH_SALT:
            return None
        names = place_names(arity)
        key = [names[i] for i in wanted]
        least = copy.rows // (SHARE * min(self.partitions, MOST_PLACES))
        hot = f"SELECT {', '.join(key)} FROM {copy.view} GROUP BY {', '.join(key)} HAVING count(*) > {least}L"
        salts = self._salts(hot, key)
        if not salts:
            return None
        listed = salts_of(key, salts)
        salt = f"element_at({listed}, 1 + pmod(hash({', '.join(names)}), size({listed})))"
        text = f"SELECT *, {salt} AS {quoted(SALT)} FROM {copy.view}"
        hint = f"/*+ REPARTITION({self.partitions}, {', '.join(key)}, {quoted(SALT)}) */"
        kept = self.workspace.keep([self.workspace.sql(f"SELECT {hint} * FROM ({text})")])[0]
        self._spread_copies.append(kept)
        return Salted(Rows(f"SELECT * FROM {kept.view}", kept.rows), salts)

    def _salts(self, hot: str, key: Sequence[str]) -> dict[tuple[int, ...], list[int]]:
        """For each key that a text selects, a salt for each of some places: Spark places a row by this `hash`."""
        place = f"pmod(hash({', '.join(key)}, salt), {self.partitions})"
        tried = f"SELECT explode(sequence(0, {TRIED * self.partitions})) AS salt, * FROM ({hot})"
        found = f"SELECT {', '.join(key)}, min(salt) AS salt FROM ({tried}) GROUP BY {', '.join(key)}, {place}"
        salts: dict[tuple[int, ...], list[int]] = {}
        for row in self.workspace.sql(found).collect():
            salts.setdefault(tuple(row)[:-1], []).append(row[-1])
        return {key: sorted(some)[:MOST_PLACES] for key, some in salts.items()}

    def clear(self) -> None:
        """Forgets all copies: rows will be placed differently."""
        for kept in [*self.kept.values(), *self._spread_copies]:
            self.workspace.free(kept)
        self.kept.clear()
        self._salted.clear()
        self._spread_copies.clear()

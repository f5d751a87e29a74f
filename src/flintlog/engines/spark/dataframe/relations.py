"""All relations of a stratum together: how their new rows are found, and how parts become one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from flintlog.engines.spark.dataframe.growing import Growing, together
from flintlog.engines.spark.dataframe.sql.rule_sources import RuleSources
from flintlog.engines.spark.dataframe.sql.texts import Rows, in_one_place
from flintlog.engines.spark.dataframe.workspace import Kept, Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Parts of a relation beyond which they become one: in one place, and in several, where each part is a join.
MOST_PARTS, MOST_PARTS_SPREAD = 10, 4
# A part of so many times the rows of all younger ones is not merged with them.
LARGER = 2
# How many candidates a new row has at most, as a rule.
FEW = 8
# A place with so many times its share of rows has too many, if these are worth the bother.
TOO_MANY, WORTH_BOTHERING = 2, 100_000


class Relations:
    """`sources` says in how many places rows are."""

    def __init__(self, workspace: Workspace, growing: Mapping[str, Growing], sources: RuleSources) -> None:
        self.workspace, self.growing, self.sources = workspace, growing, sources
        self.scalars = sources.scalars
        self._merged_last: list[Growing] = []

    @property
    def single(self) -> bool:
        return self.sources.partitions == 1

    @property
    def rows(self) -> int:
        return sum(growing.rows for growing in self.growing.values())

    @property
    def new_rows(self) -> int:
        return sum(growing.delta.rows for growing in self.growing.values() if growing.delta is not None)

    def forget(self) -> None:
        for growing in self.growing.values():
            growing.parts, growing.delta = [], None

    # --- Rounds -----------------------------------------------------------------------------------

    def begin(self, texts: Mapping[str, Sequence[str]]) -> None:
        """The first rows of all relations, from texts for each."""
        frames = []
        for name, growing in self.growing.items():
            found = (
                growing.candidates(texts[name], self.single, self.scalars)
                if texts.get(name)
                else together([], False, growing.names)
            )
            frames.append(self.workspace.sql(self._placed(growing, found)))
        for growing, kept in zip(self.growing.values(), self.workspace.keep(frames), strict=True):
            growing.parts = [kept]
            growing.delta = kept if kept.rows else None

    def grow(self, texts: Mapping[str, Sequence[str]]) -> None:
        """One round: what is new of candidates becomes the delta. Relations of many parts get fewer meanwhile."""
        new = [self.workspace.sql(self._new_rows(self.growing[name], found)) for name, found in texts.items()]
        most = MOST_PARTS if self.single else MOST_PARTS_SPREAD
        full = {name: self._young(g) for name, g in self.growing.items() if len(g.parts) > most}
        kept = self.workspace.keep([*new, *(self._merged(self.growing[name], parts) for name, parts in full.items())])
        for (name, parts), merged in zip(full.items(), kept[len(new) :], strict=True):
            self._replace(self.growing[name], parts, merged)
        for growing in self.growing.values():
            growing.delta = None
        for name, found in zip(texts, kept, strict=False):
            self._append(self.growing[name], found)
        self._merged_last = [g for name in full if len((g := self.growing[name]).parts) <= 2 and g.placed]

    def place_again(self, relations: Sequence[Growing] = ()) -> None:
        """Puts all rows of relations (all unless told) into the places they should have."""
        chosen = list(relations or self.growing.values())
        changed = [growing for growing in chosen if growing.delta is not None]
        deltas = [self._placed(g, f"SELECT * FROM {g.delta.view}") for g in changed if g.delta is not None]
        old = [growing.older for growing in chosen]
        wholes = [self._merged(growing, parts) for growing, parts in zip(chosen, old, strict=True)]
        kept = self.workspace.keep([*wholes, *map(self.workspace.sql, deltas)])
        for growing, parts, whole in zip(chosen, old, kept, strict=False):
            self._replace(growing, parts, whole)
        for growing, delta in zip(changed, kept[len(chosen) :], strict=True):
            last = growing.parts.pop()
            growing.parts.append(delta)
            growing.delta = delta
            self.workspace.free(last)

    def choose_places(self, read_whole: Collection[str], *, is_slow: bool) -> list[Growing]:
        """How rows are placed from now on; the relations of which that is new. Where many rows are new and rounds slow,
        it is by all columns that tell them apart: candidates travel after each round, but equal ones meet before.
        Where few are new, it is by the columns of joins, so that what rules read whole does not travel."""
        changed = []
        for name, growing in self.growing.items():
            new = growing.delta.rows if growing.delta is not None else 0
            if is_slow and growing.placed and FEW * new > growing.rows:
                growing.placed = ()
            elif name in read_whole and growing.joined and not growing.placed and FEW * FEW * new < growing.rows:
                growing.placed = growing.joined
            else:
                continue
            changed.append(growing)
        return changed

    def finish(self, growing: Growing) -> None:
        """All rows, each once, in the parts."""
        if growing.best is not None and len(growing.parts) > 1:
            text, parts = growing.whole(self.single, self.scalars), growing.parts
            growing.parts, growing.delta = self.workspace.keep([self.workspace.sql(text)]), None
            for part in parts:
                self.workspace.free(part)

    # --- Texts ------------------------------------------------------------------------------------

    def _placed(self, growing: Growing, text: str) -> str:
        if self.single:
            return in_one_place(text)
        return growing.distributed(text, self.sources.partitions)

    def _new_rows(self, growing: Growing, texts: Sequence[str]) -> str:
        if self.single:
            return self._unknown(growing, growing.candidates(texts, True, self.scalars), growing.parts)
        if growing.placed:
            texts = [growing.distributed(" UNION ALL ".join(texts), self.sources.partitions)]
        text = growing.candidates(texts, False, self.scalars)
        for part in growing.parts:
            text = self._unknown(growing, text, [part])
        return text

    def _unknown(self, growing: Growing, text: str, parts: Sequence[Kept]) -> str:
        known = Rows(together(parts, self.single, growing.names), sum(part.rows for part in parts))
        few = Rows(text, FEW * self.new_rows)
        if few.count <= known.count and growing.key and not self.sources.adaptive:
            hint = self.sources.hint(few, known, either=True, on=growing.key)
            return growing.unknown_of_few(text, known.text, hint, self.scalars)
        hint = self.sources.hint(known, known, either=False, on=growing.key)
        return growing.unknown(text, known.text, hint, self.scalars)

    # --- Parts ------------------------------------------------------------------------------------

    def _append(self, growing: Growing, new: Kept) -> None:
        if new.rows:
            growing.parts.append(new)
            growing.delta = new
        else:
            self.workspace.free(new)

    @staticmethod
    def _young(growing: Growing) -> list[Kept]:
        """The parts that had better become one: all but the last round's from the oldest on that is not much larger
        than those after it together; the two youngest at least. So a row is written again a few times, however many
        rounds there are."""
        old = growing.older
        for place, part in enumerate(old[:-2]):
            if part.rows <= LARGER * sum(younger.rows for younger in old[place + 1 :]):
                return old[place:]
        return old[-2:]

    def _merged(self, growing: Growing, parts: Sequence[Kept]) -> DataFrame:
        """Some parts as one."""
        text = growing.condensed(together(parts, self.single, growing.names), self.scalars)
        return self.workspace.sql(self._placed(growing, text))

    def _replace(self, growing: Growing, parts: Sequence[Kept], merged: Kept) -> None:
        """Puts one part in the place of some, which are next to each other."""
        place = growing.parts.index(parts[0]) if parts else 0
        growing.parts[place : place + len(parts)] = [merged]
        for part in parts:
            self.workspace.free(part)

    def level(self) -> None:
        """Relations of few parts since the last round, of which some place has far too many rows, are placed by all
        columns from now on."""
        merged, self._merged_last = self._merged_last, []
        heaped = [growing for growing in merged if not self.single and self._is_heaped(growing.parts[0])]
        for growing in heaped:
            growing.placed = growing.joined = ()
        if heaped:
            self.place_again(heaped)

    def _is_heaped(self, part: Kept) -> bool:
        if part.rows < WORTH_BOTHERING:
            return False
        text = f"SELECT count(*) AS n FROM {part.view} GROUP BY spark_partition_id()"
        most = self.workspace.sql(f"SELECT max(n) FROM ({text})").collect()[0][0]
        return bool(most > TOO_MANY * part.rows / self.sources.partitions)

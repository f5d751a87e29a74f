"""All relations of a stratum together: finds their new rows, merges parts, and chooses how rows are partitioned."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from flintlog.engines.spark.dataframe.growing import Growing, together
from flintlog.engines.spark.dataframe.sql.rule_sources import RuleSources
from flintlog.engines.spark.dataframe.sql.texts import Rows, in_one_partition
from flintlog.engines.spark.dataframe.workspace import PersistedRows, Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A relation with more parts is merged. Over several partitions every part costs a join.
MOST_PARTS, MOST_PARTS_SPREAD = 10, 4
# A part is not merged if it has so many times the rows of all younger parts together.
LARGER = 2
# A guess: a round has at most so many candidates for each new row of the last one.
FEW = 8
# A partition has too many rows if it has so many times the average, and the part so many rows.
TOO_MANY, WORTH_BOTHERING = 2, 100_000


class Relations:
    """`sources` knows the number of partitions."""

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
            frames.append(self.workspace.sql(self._partitioned(growing, found)))
        for growing, kept in zip(self.growing.values(), self.workspace.persist(frames), strict=True):
            growing.parts = [kept]
            growing.delta = kept if kept.rows else None

    def grow(self, texts: Mapping[str, Sequence[str]]) -> None:
        """One round: the new rows among the candidates become the delta. The same job merges parts of relations that
        have too many."""
        new = [self.workspace.sql(self._new_rows(self.growing[name], found)) for name, found in texts.items()]
        most = MOST_PARTS if self.single else MOST_PARTS_SPREAD
        young = [(growing, self._young(growing)) for growing in self.growing.values() if len(growing.parts) > most]
        persisted = self.workspace.persist([*new, *(self._merged(growing, parts) for growing, parts in young)])
        for (growing, parts), merged in zip(young, persisted[len(new) :], strict=True):
            self._replace(growing, parts, merged)
        for growing in self.growing.values():
            growing.delta = None
        for name, found in zip(texts, persisted, strict=False):
            self._append(self.growing[name], found)
        self._merged_last = [g for g, _ in young if len(g.parts) <= 2 and g.partition_columns]

    def repartition(self, relations: Sequence[Growing] = ()) -> None:
        """Partitions all rows of relations (of all relations by default) as they should be now."""
        chosen = list(relations or self.growing.values())
        changed = [growing for growing in chosen if growing.delta is not None]
        deltas = [self._partitioned(g, f"SELECT * FROM {g.delta.view}") for g in changed if g.delta is not None]
        old = [growing.older for growing in chosen]
        wholes = [self._merged(growing, parts) for growing, parts in zip(chosen, old, strict=True)]
        persisted = self.workspace.persist([*wholes, *map(self.workspace.sql, deltas)])
        for growing, parts, whole in zip(chosen, old, persisted, strict=False):
            self._replace(growing, parts, whole)
        for growing, delta in zip(changed, persisted[len(chosen) :], strict=True):
            last = growing.parts.pop()
            growing.parts.append(delta)
            growing.delta = delta
            self.workspace.free(last)

    def choose_partition_columns(self, read_whole: Collection[str], *, is_slow: bool) -> list[Growing]:
        """Chooses the columns by which relations are partitioned from now on; returns the relations for which they have
        changed. A relation with many new rows and slow rounds is partitioned by its key: candidates move in every
        round, but equal ones are merged before. A relation with few new rows is partitioned by the columns of joins, so
        that rules can read it whole without moving it."""
        changed = []
        for name, growing in self.growing.items():
            new = growing.delta.rows if growing.delta is not None else 0
            chosen = growing.partition_columns
            if is_slow and FEW * new > growing.rows:
                chosen = ()
            elif name in read_whole and FEW * FEW * new < growing.rows:
                chosen = growing.join_columns
            if chosen != growing.partition_columns:
                growing.partition_columns = chosen
                changed.append(growing)
        return changed

    def finish(self, growing: Growing) -> None:
        """Merges the parts of a relation with best values: only the best row of each key stays."""
        if growing.best is not None and len(growing.parts) > 1:
            text, parts = growing.whole(self.single, self.scalars), growing.parts
            growing.parts, growing.delta = self.workspace.persist([self.workspace.sql(text)]), None
            for part in parts:
                self.workspace.free(part)

    # --- Texts ------------------------------------------------------------------------------------

    def _partitioned(self, growing: Growing, text: str) -> str:
        if self.single:
            return in_one_partition(text)
        return growing.repartitioned(text, self.sources.partitions)

    def _new_rows(self, growing: Growing, texts: Sequence[str]) -> str:
        if self.single:
            return self._unknown(growing, growing.candidates(texts, True, self.scalars), growing.parts)
        if growing.partition_columns:
            texts = [growing.repartitioned(" UNION ALL ".join(texts), self.sources.partitions)]
        text = growing.candidates(texts, False, self.scalars)
        for part in growing.parts:
            text = self._unknown(growing, text, [part])
        return text

    def _unknown(self, growing: Growing, text: str, parts: Sequence[PersistedRows]) -> str:
        known = Rows(together(parts, self.single, growing.names), sum(part.rows for part in parts))
        few = Rows(text, FEW * self.new_rows)
        if few.count <= known.count and growing.key and not self.sources.adaptive:
            hint = self.sources.hint(few, known, either=True, on=growing.key)
            return growing.unknown_of_few(text, known.text, hint, self.scalars)
        hint = self.sources.hint(known, known, either=False, on=growing.key)
        return growing.unknown(text, known.text, hint, self.scalars)

    # --- Parts ------------------------------------------------------------------------------------

    def _append(self, growing: Growing, new: PersistedRows) -> None:
        if new.rows:
            growing.parts.append(new)
            growing.delta = new
        else:
            self.workspace.free(new)

    @staticmethod
    def _young(growing: Growing) -> list[PersistedRows]:
        """The parts to merge, without the last round's: from the oldest part on that is not LARGER than all younger
        parts together, but at least the two youngest. So a row is copied only a few times, however many rounds there
        are."""
        old = growing.older
        for i, part in enumerate(old[:-2]):
            if part.rows <= LARGER * sum(younger.rows for younger in old[i + 1 :]):
                return old[i:]
        return old[-2:]

    def _merged(self, growing: Growing, parts: Sequence[PersistedRows]) -> DataFrame:
        """The rows of several parts as one."""
        text = growing.condensed(together(parts, self.single, growing.names), self.scalars)
        return self.workspace.sql(self._partitioned(growing, text))

    def _replace(self, growing: Growing, parts: Sequence[PersistedRows], merged: PersistedRows) -> None:
        """Replaces adjacent parts by one that has their rows."""
        first = growing.parts.index(parts[0]) if parts else 0
        growing.parts[first : first + len(parts)] = [merged]
        for part in parts:
            self.workspace.free(part)

    def spread_heaps(self) -> None:
        """Of the relations that the last round has merged, those with far too many rows in one partition are
        partitioned by their keys from now on."""
        merged, self._merged_last = self._merged_last, []
        heaped = [growing for growing in merged if not self.single and self._is_heaped(growing.parts[0])]
        for growing in heaped:
            growing.partition_columns = growing.join_columns = ()
        if heaped:
            self.repartition(heaped)

    def _is_heaped(self, part: PersistedRows) -> bool:
        if part.rows < WORTH_BOTHERING:
            return False
        text = f"SELECT count(*) AS n FROM {part.view} GROUP BY spark_partition_id()"
        most = self.workspace.sql(f"SELECT max(n) FROM ({text})").collect()[0][0]
        return bool(most > TOO_MANY * part.rows / self.sources.partitions)

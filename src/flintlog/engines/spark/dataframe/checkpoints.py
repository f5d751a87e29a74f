"""Checkpoints: files from which rounds continue after executors, and the rows that they kept, were lost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.dataframe.growing import Growing
from flintlog.engines.spark.dataframe.workspace import PersistedRows, Workspace, union_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

GONE = "E933"
_NO_ROOM = re.compile(
    r"(UNABLE_TO_ACQUIRE|AGGREGATE_OUT_OF)_MEMORY|memory to (build hash (map|relation)|grow BytesToBytesMap)",
    re.IGNORECASE,
)
_LOST = re.compile(r"CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block \S+ not found", re.IGNORECASE)


def is_loss(error: BaseException) -> bool:
    """Whether an executor was lost with rows that it kept."""
    return _LOST.search(str(error)) is not None


def is_for_room(error: BaseException) -> bool:
    """Whether a task ran out of memory: for a hash table, which cannot spill, or for any other buffer."""
    return _NO_ROOM.search(str(error)) is not None


@dataclass(frozen=True)
class _Saved:
    path: str
    rows: int
    is_delta: bool


@dataclass
class Checkpoints:
    """Saves the parts of relations under a directory; each part once, since parts do not change. Without a directory,
    a stratum that loses rows starts again."""

    workspace: Workspace
    directory: str | None
    every: int
    round: int = 0
    _saved: dict[str, list[_Saved]] = field(default_factory=dict)
    _paths: dict[PersistedRows, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._root = f"{(self.directory or '').rstrip('/')}/flintlog-{uuid4().hex}"

    def is_due(self, round: int) -> bool:
        return self.directory is not None and self.every > 0 and round % self.every == 0

    def save(self, round: int, growing: Mapping[str, Growing]) -> None:
        """Writes the parts of all relations that are not written yet, and removes files that no relation needs."""
        saved: dict[str, list[_Saved]] = {}
        for number, (name, relation) in enumerate(growing.items()):
            saved[name] = []
            for part in relation.parts:
                path = self._paths.get(part)
                if path is None:
                    path = f"{self._root}/round-{round}-{number}-{len(saved[name])}"
                    # An earlier attempt at this round may have left an unfinished file.
                    part.frame.write.mode("overwrite").parquet(path)
                    self._paths[part] = path
                saved[name].append(_Saved(path, part.rows, part is relation.delta))
        self.round, self._saved = round, saved
        used = {part.path for parts in saved.values() for part in parts}
        for kept, path in list(self._paths.items()):
            if path not in used:
                del self._paths[kept]
                self.workspace.remove(path)

    def restore(self, growing: Mapping[str, Growing]) -> bool:
        """Puts relations back to the last checkpoint; False if there is none."""
        if not self._saved:
            return False
        self._paths.clear()
        for name, relation in growing.items():
            saved = self._saved[name]
            frames = [self._read(part, relation) for part in saved]
            relation.parts, relation.delta = self.workspace.persist(frames), None
            for part, kept in zip(saved, relation.parts, strict=True):
                if kept.rows != part.rows:
                    raise _gone(part.path, f"it has {kept.rows} rows instead of {part.rows}")
                self._paths[kept] = part.path
                relation.delta = kept if part.is_delta else relation.delta
        return True

    def _read(self, part: _Saved, relation: Growing) -> DataFrame:
        try:
            view = self.workspace.view(self._reader(self.workspace.spark, relation).parquet(part.path))
        except Exception as error:
            if not type(error).__module__.startswith(("py4j", "pyspark")):
                raise
            raise _gone(part.path, "it is not there") from error
        what = ", ".join(f"coalesce({name}, 0L) AS {name}" for name in relation.names)
        return self.workspace.sql(f"SELECT {what} FROM {view}")

    def outliving(self, number: int, relation: Growing) -> DataFrame | None:
        """A relation's rows as files, which outlive executors; None without a directory, or if no executor can be
        lost."""
        if self.directory is None or not self.workspace.may_lose_rows:
            return None
        path = f"{self._root}-result-{number}"
        union_of(relation.parts).write.mode("overwrite").parquet(path)
        found = self._reader(self.workspace.users_session, relation).parquet(path)
        return self.workspace.handed_over_file(found, path, relation.rows)

    def close(self) -> None:
        """Removes all files but those of results."""
        if self._paths or self._saved:
            self.workspace.remove(self._root)

    def _reader(self, session: SparkSession, relation: Growing) -> DataFrameReader:
        columns = ", ".join(f"{name} bigint" for name in relation.names)
        reader = session.read.schema(columns)
        # The user's session may tell Spark to ignore missing files; here they are an error.
        return reader.option("ignoreMissingFiles", "false").option("ignoreCorruptFiles", "false")


def _gone(path: str, what: str) -> FlintlogError:
    note = "run it again, and leave the directory of checkpoints alone until it has ended"
    return FlintlogError([Diagnostic(GONE, f"the checkpoint `{path}` cannot be read: {what}", note=note)])

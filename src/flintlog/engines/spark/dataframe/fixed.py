"""What stays as it is while a stratum is evaluated: its inputs, shared subplans, parts of rules that read only those.
Each is computed once, and kept in the places where joins look for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintlog.engines.spark.dataframe.texts import Rows, numbered, place_names
from flintlog.engines.spark.dataframe.workspace import Kept, Workspace
from flintlog.ir.program import Program
from flintlog.ir.relation import Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class Inputs:
    """The frames a stratum reads, by relation: views of them, and how many rows they have."""

    workspace: Workspace
    frames: Mapping[str, DataFrame]
    program: Program
    counts: dict[str, int]
    views: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        arity = len(self.program.relations[name].columns)
        if name not in self.views:
            self.views[name] = self.workspace.view(self.workspace.adopted(self.frames[name]))
        # Columns that cannot be null make shorter plans.
        what = ", ".join(f"coalesce({column}, 0L) AS {column}" for column in place_names(arity))
        return f"SELECT {what} FROM {self.views[name]}"


@dataclass
class Fixed:
    """Kept copies, by what they are a copy of (a relation's name or a node) and the columns that place their rows."""

    workspace: Workspace
    describe: Callable[[str], None]
    partitions: int = 1
    kept: dict[tuple[object, tuple[int, ...]], Kept] = field(default_factory=dict)

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
            text = f"SELECT /*+ COALESCE(1) */ * FROM ({text})"
        elif wanted:
            text = f"SELECT * FROM ({text}) DISTRIBUTE BY {', '.join(names[i] for i in wanted)}"
        return self.workspace.keep([self.workspace.sql(text)])[0]

    def clear(self) -> None:
        """Forgets all copies: rows will be placed differently."""
        for kept in self.kept.values():
            self.workspace.free(kept)
        self.kept.clear()


def node_text(node: Node, text: str) -> str:
    return numbered(node.schema, text)

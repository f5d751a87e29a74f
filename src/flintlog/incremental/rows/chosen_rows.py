"""Rows of a relation for the rules that read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.maintained_relation import MaintainedRelation


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Rows by their positions, each once. Their columns are made once, however many rules read them."""

    relation: MaintainedRelation
    positions: Array

    @property
    def size(self) -> int:
        return self.positions.size

    @cached_property
    def columns(self) -> list[Array]:
        return self.relation.columns(self.positions)

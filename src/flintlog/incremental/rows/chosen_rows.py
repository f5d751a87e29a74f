"""Some rows of a relation, for the rules that look at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.maintained_relation import MaintainedRelation


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Some rows of a relation by their places, none of them twice; columns are made once, however many rules look."""

    kept: MaintainedRelation
    places: Array

    @property
    def size(self) -> int:
        return self.places.size

    @cached_property
    def columns(self) -> list[Array]:
        return self.kept.columns(self.places)

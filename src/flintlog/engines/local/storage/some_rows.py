"""Some rows of a relation, as they were when they were taken out of it."""

from __future__ import annotations

from dataclasses import dataclass

from flintlog.engines.local.storage.packing import Array, Packing


@dataclass(slots=True, eq=False)
class SomeRows:
    """A copy of the rows as they stand in the log, packed or as rows of words: columns are made when somebody looks."""

    words: Array
    packing: Packing | None
    arity: int
    size: int

    def column(self, position: int, start: int, end: int) -> Array:
        if self.packing is not None:
            return self.packing.unpack(self.words[start:end], position)
        return self.words[start * self.arity : end * self.arity].reshape(-1, self.arity)[:, position].copy()

    def columns(self) -> list[Array]:
        return [self.column(position, 0, self.size) for position in range(self.arity)]

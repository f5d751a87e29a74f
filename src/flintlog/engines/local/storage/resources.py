"""What the relations of a run share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flintlog.engines.memory import MemoryGuard


@dataclass(frozen=True)
class Resources:
    """What relations of a run share: the memory they may take, and threads for what takes long."""

    guard: MemoryGuard | None = None
    in_parts: Callable[[Callable[[int, int], None], int], None] = lambda work, size: work(0, size)

    def request(self, relation: str, size: int) -> None:
        """Raises if a relation must not grow by so many bytes."""
        if self.guard is not None:
            self.guard.request(size, relation)

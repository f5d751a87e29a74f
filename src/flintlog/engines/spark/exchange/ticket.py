"""The address and the secret by which a task joins its run."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ticket:
    """The driver makes it, and it travels in the tasks' closure. Its owner may join the run, so the secret is not
    printed. `join_seconds` is how long the ranks wait for each other."""

    host: str
    port: int
    secret: bytes = field(repr=False)
    ranks: int
    run: str
    join_seconds: float

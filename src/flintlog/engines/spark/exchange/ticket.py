"""What a task needs in order to join the others of its run."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ticket:
    """Made by the driver, travels in the tasks' closure. Who has it may join the run, so it is never printed whole.

    `join_seconds` is how long the ranks wait for each other.
    """

    host: str
    port: int
    secret: bytes = field(repr=False)
    ranks: int
    run: str
    join_seconds: float

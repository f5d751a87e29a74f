"""What a user may say about a run on Spark. Knows nothing of pyspark, so that anybody can make one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STRATEGIES = ("auto", "dataframe", "decomposed", "resident", "single")


@dataclass(frozen=True)
class SparkOptions:
    """`session` is a session in hand: a run uses it as it is and leaves it open. Without one, the active session is
    used, or one is made for `master` and ended with the run.

    - `strategy`: how strata are evaluated; "auto" chooses for each. A stratum to which the forced one does not apply
      gets another, and a line says why.
    - `partitions`: how many parts a stratum has; as many as there are slots unless told.
    - `checkpoint_dir`: where checkpoints and snapshots go, as Spark spells a directory; `checkpoint_every` is the
      number of rounds between them.
    - `bad_records`: "refuse" a source with rows that do not fit their declaration, or the directory where such rows
      are written "aside".
    - `broadcast_limit`: bytes of relations that may stand in every task beside its own part.
    """

    session: Any = None
    master: str | None = None
    strategy: str = "auto"
    partitions: int | None = None
    checkpoint_dir: str | None = None
    checkpoint_every: int = 20
    bad_records: str = "refuse"
    broadcast_limit: int = 512 << 20

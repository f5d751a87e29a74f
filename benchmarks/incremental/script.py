"""What a worker is told to do, and what it says about it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from benchmarks.results import Status

Action = Literal["create", "run", "insert", "delete", "sync", "compare", "check"]


@dataclass(frozen=True)
class Step:
    """One thing to do with the facts in a folder.

    `create` a database of them; `run` the program on them; `insert` them into the database or `delete` them from it;
    `sync` as many bytes as the last of these has written to a file of its own, the least that a commit takes; `compare`
    the database's sizes with what these facts give; `check` all that it holds, too. Figures are kept under `key`; a
    step without one warms up.
    """

    action: Action
    folder: Path
    key: str = ""
    strategy: str = "auto"


@dataclass
class Timing:
    """Seconds of each time that a step was done, and how many rows of derived relations it changed."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    @property
    def median(self) -> float:
        return median(self.wall)


@dataclass
class Outcome:
    """What a worker's script came to: figures by key, and the process's peak memory in 10⁶ bytes.

    They count only with status `ok`; `message` says what happened otherwise.
    """

    status: Status = "ok"
    message: str = ""
    figures: dict[str, Timing] = field(default_factory=dict)
    mb: float = 0.0

    def seconds(self, key: str) -> float | None:
        """The median of the steps with that key; None if they were not all right."""
        return self.figures[key].median if self.status == "ok" and key in self.figures else None


def together(first: Outcome, second: Outcome) -> Outcome:
    """What two workers of the same script came to; not all is well if one of them failed."""
    figures = {
        key: Timing(one.wall + other.wall, one.cpu + other.cpu, one.changed + other.changed)
        for key, one in first.figures.items()
        if (other := second.figures.get(key)) is not None
    }
    worst = first if first.status != "ok" else second
    return Outcome(worst.status, worst.message, figures, max(first.mb, second.mb))


def outcome_of(table: dict[str, Any]) -> Outcome:
    """An outcome from its JSON."""
    figures = {key: Timing(**timing) for key, timing in table["figures"].items()}
    return Outcome(**{**table, "figures": figures})


def write_script(path: Path, program: Path, steps: Sequence[Step]) -> Path:
    table = {"program": str(program), "steps": [{**asdict(step), "folder": str(step.folder)} for step in steps]}
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


def read_script(path: Path) -> tuple[Path, list[Step]]:
    table = json.loads(path.read_text(encoding="utf-8"))
    steps = [Step(**{**step, "folder": Path(step["folder"])}) for step in table["steps"]]
    return Path(table["program"]), steps

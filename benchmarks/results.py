"""The file a run writes: what was measured, on what, and what was expected of it."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from benchmarks.definition import Reference

FORMAT = 1

Status = Literal["ok", "wrong", "failed", "timeout", "cannot"]


@dataclass
class Outcome:
    """What one contestant did on one row: a figure for each timed run, in order.

    They count only with status `ok`; `message` says what happened otherwise.
    """

    status: Status = "ok"
    message: str = ""
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)

    def median(self, what: Literal["wall", "cpu", "mb"]) -> float | None:
        """The median of the runs; None unless every answer was right."""
        figures: list[float] = getattr(self, what)
        return median(figures) if self.status == "ok" and figures else None


@dataclass
class RowResult:
    """What was measured on one row; `load` is the machine's when the row began."""

    program: str
    data: str
    goal: float | None
    expected: dict[str, str]
    references: dict[str, Reference]
    load: float
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.program}:{self.data}"


@dataclass
class Results:
    """`contestants` maps those that took part to their versions, `absent` the others asked for to the reason."""

    started: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    contestants: dict[str, str]
    absent: dict[str, str]
    rows: list[RowResult] = field(default_factory=list)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        text = json.dumps({"format": FORMAT, **dataclasses.asdict(self)}, indent=1, ensure_ascii=False)
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)


class BadResults(Exception):
    """A file that no run wrote."""


def read(path: Path) -> Results:
    """Raises BadResults."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table.pop("format") != FORMAT:
            raise BadResults(f"{path} has another format than this version reads")
        rows = [_row(row) for row in table.pop("rows")]
        return Results(**table, rows=rows)
    except OSError as error:
        raise BadResults(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadResults(f"{path} is not a result of `benchmarks run`: {error}") from error


def _row(table: dict[str, Any]) -> RowResult:
    references = {name: Reference(**figures) for name, figures in table.pop("references").items()}
    outcomes = {name: Outcome(**outcome) for name, outcome in table.pop("outcomes").items()}
    return RowResult(**table, references=references, outcomes=outcomes)

"""What the commands find, as files: so that a page can be made of them at any time."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.contestants import ROOT
from benchmarks.results import BadResults, Outcome
from benchmarks.spark.contestants import HAND_WRITTEN

FOLDER = ROOT / "build" / "bench-spark"


@dataclass
class RowResult:
    """One row of the comparison. `rounds` are the hand-written loop's; `notes` what Flintlog said, by contestant."""

    program: str
    data: str
    expected: dict[str, str]
    rounds: int
    load: float
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)

    def times_faster(self, contestant: str, limit: float) -> tuple[float, bool] | None:
        """The hand-written loop's time over the contestant's, and whether it is only known to be more: the loop was cut
        at `limit`. None where the contestant has no time, or the loop failed."""
        ours = self.outcomes[contestant].median("wall") if contestant in self.outcomes else None
        theirs = self.outcomes.get(HAND_WRITTEN)
        if ours is None or theirs is None:
            return None
        if theirs.status == "timeout":
            return limit / ours, True
        seconds = theirs.median("wall")
        return None if seconds is None else (seconds / ours, False)


@dataclass
class Comparison:
    """A run of `compare`: `settings` holds what was asked for, `limit` among it."""

    started: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    contestants: list[str]
    rows: list[RowResult] = field(default_factory=list)


def save(name: str, found: Any, path: Path | None = None) -> Path:
    """Writes what a command found, a dataclass, as JSON; whole or not at all."""
    path = path or FOLDER / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    text = json.dumps({"kind": name, **dataclasses.asdict(found)}, indent=1, ensure_ascii=False)
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)
    return path


def read(path: Path) -> dict[str, Any]:
    """A file that `save` wrote, as a table. Raises BadResults."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(table, dict) or "kind" not in table:
            raise BadResults(f"{path} is not a result of `benchmarks.spark`")
    except OSError as error:
        raise BadResults(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BadResults(f"{path} is not JSON: {error}") from error
    return table


def joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two runs of `compare` as one, if they measured the same thing on different rows. Raises BadResults."""
    same = all(first.get(key) == second.get(key) for key in ("kind", "settings"))
    if first["kind"] != "compare" or not same or first["machine"]["revision"] != second["machine"]["revision"]:
        raise BadResults(f"two results of `{first['kind']}` that do not belong together")
    contestants = [*first["contestants"], *(name for name in second["contestants"] if name not in first["contestants"])]
    return {**first, "contestants": contestants, "rows": [*first["rows"], *second["rows"]]}


def comparison(table: dict[str, Any]) -> Comparison:
    """The result of `compare` from its file."""
    rows = [
        RowResult(**{**row, "outcomes": {name: Outcome(**outcome) for name, outcome in row["outcomes"].items()}})
        for row in table["rows"]
    ]
    return Comparison(**{key: value for key, value in table.items() if key not in ("kind", "rows")}, rows=rows)

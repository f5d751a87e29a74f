"""What the commands find, as files: so that a page can be made of them at any time."""

import dataclasses
import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.contestants import ROOT
from benchmarks.incremental import elastic, memory, table3, updates
from benchmarks.incremental.script import Outcome
from benchmarks.results import BadResults

FOLDER = ROOT / "build" / "bench-incremental"
_ROW_OF = {
    "table3": table3.batch_of,
    "updates": updates.update_of,
    "elastic": elastic.course_of,
    "memory": memory.footprint_of,
}


class Row(Protocol):
    """What is measured at a time, and may be measured anew by itself. `key` says what it is of."""

    @property
    def key(self) -> Hashable: ...

    def outcomes(self) -> Iterator[tuple[str, Outcome]]: ...


@dataclass
class Found:
    """What one command has found; `settings` holds what was asked for, without the choice of rows."""

    kind: str
    started: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    rows: list[Any] = field(default_factory=list)  # each a Row

    def save(self, path: Path | None = None) -> Path:
        """Writes it as JSON; whole or not at all."""
        path = path or FOLDER / f"{self.kind}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        text = json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False)
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)
        return path


def read(path: Path) -> Found:
    """A file that `save` wrote. Raises BadResults."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        row_of = _ROW_OF[table["kind"]]
        return Found(**{**table, "rows": [row_of(row) for row in table["rows"]]})
    except OSError as error:
        raise BadResults(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadResults(f"{path} is not a result of `benchmarks.incremental`: {error}") from error


def joined(first: Found, second: Found) -> Found:
    """Two runs of a command as one, if they measured in the same way; what both have is the second's. Raises
    BadResults."""
    alike = first.settings == second.settings and first.machine["revision"] == second.machine["revision"]
    if first.kind != second.kind or not alike:
        raise BadResults(f"two results of `{first.kind}` that do not belong together")
    rows = {row.key: row for row in [*first.rows, *second.rows]}
    return dataclasses.replace(first, rows=list(rows.values()))

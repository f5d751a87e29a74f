"""The changes that a transaction has made, for its caller."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from flintlog.api.result import RelationResult, unknown_relation
from flintlog.incremental.maintained import RowChanges
from flintlog.io import write_facts
from flintlog.io.schema import Schema
from flintlog.ir import program as ir
from flintlog.passes.context import wanted_by_directives
from flintlog.types import Row


@dataclass(frozen=True)
class RelationChanges:
    """The rows that a transaction has inserted into a relation, and deleted."""

    inserted: RelationResult
    deleted: RelationResult


class Changes(Mapping[str, RelationChanges]):
    """The rows that a transaction has inserted and deleted, by relation; relations without changes are no keys.
    `recomputed` are the relations that were computed again as a whole, each with the reason."""

    def __init__(
        self,
        changed: Mapping[str, RowChanges],
        program: ir.Program,
        before: ir.Program,
        recomputed: Mapping[str, str],
        word_size: int,
    ) -> None:
        self._changed, self._program, self._before, self._word_size = changed, program, before, word_size
        self.recomputed = {name: why for name, why in recomputed.items() if name in program.relations}

    def _program_with(self, name: str) -> ir.Program:
        """The program that has a relation: the one before, if it was dropped."""
        return self._program if name in self._program.relations else self._before

    def __getitem__(self, name: str) -> RelationChanges:
        program = self._program_with(name)
        if name not in program.relations:
            raise unknown_relation(name, self._program.relations)
        changed, relation = self._changed.get(name), program.relations[name]
        inserted, deleted = (changed.inserted, changed.deleted) if changed else ([], [])
        return RelationChanges(
            RelationResult(relation, inserted, program.types), RelationResult(relation, deleted, program.types)
        )

    def __contains__(self, name: object) -> bool:
        return name in self._changed

    def __iter__(self) -> Iterator[str]:
        return iter(self._changed)

    def __repr__(self) -> str:
        rows = [f"{name}: +{len(some.inserted)} -{len(some.deleted)}" for name, some in self._changed.items()]
        return f"<changes of {', '.join(rows) or 'nothing'}>"

    def __len__(self) -> int:
        return len(self._changed)

    def outputs(self) -> list[str]:
        """The output relations of the program, and dropped ones that were outputs; all relations of a program without
        outputs."""
        shown = _shown_by(self._program)
        return [*shown, *(name for name in _shown_by(self._before) if name not in self._program.relations)]

    def write(self, directory: str | PathLike[str]) -> None:
        """Writes the changes of every output, tab-separated, into `REL.inserted.csv` and `REL.deleted.csv`. Files of an
        earlier transaction are removed first."""
        files = [(name, kind, f"{name}.{kind}.csv") for name in self.outputs() for kind in ("inserted", "deleted")]
        for _, _, file in files:
            with suppress(OSError):  # writing the file reports the same problem
                (Path(directory) / file).unlink(missing_ok=True)
        for name, kind, file in files:
            if (changed := self._changed.get(name)) is not None:
                self._write(name, getattr(changed, kind), Path(directory), file)

    def _write(self, name: str, rows: Collection[Row], directory: Path, file: str) -> None:
        program = self._program_with(name)
        schema = Schema(name, program.relations[name].columns, program.types, self._word_size)
        write_facts(schema, {"filename": file}, rows, output_dir=directory, stdout=sys.stdout)


def _shown_by(program: ir.Program) -> list[str]:
    wanted = wanted_by_directives(program)
    return [name for name in program.relations if name in wanted or not wanted]

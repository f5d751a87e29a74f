"""A process that carries out a script: `python -m benchmarks.incremental.worker SCRIPT.json WORK_DIR`.

Writes a line of JSON for every step that has a key, and one more if a step fails; then it ends.
"""

import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import flintlog as fl
from benchmarks.incremental.script import Step, read_script
from flintlog.diagnostics import Report
from flintlog.io import read_facts
from flintlog.types import Row

_LONGEST = 400  # characters of a message


class WrongAnswer(Exception):
    """The database does not hold what a run of the program gives."""


class Player:
    """Carries out steps, one after the other; at most one database is open at a time."""

    def __init__(self, program: Path, work: Path) -> None:
        self._program = fl.Program.load(program)
        self._compiled = self._program.compilation.program  # before the clock runs
        self._derived = {rule.relation for stratum in self._compiled.strata for rule in stratum.rules}
        self._path, self._scratch = work / "database", work / "scratch"
        self._written = 0  # bytes of the last change
        self._expected: dict[Path, dict[str, int]] = {}  # sizes, by folder
        self._database: fl.Database | None = None

    def play(self, step: Step) -> dict[str, Any]:
        """The figures of a step. Raises WrongAnswer."""
        actions: dict[str, Callable[[Step], dict[str, Any]]] = {
            "create": self._create,
            "run": self._run,
            "insert": self._change,
            "delete": self._change,
            "sync": self._sync,
            "compare": self._compare,
            "check": self._check,
        }
        return actions[step.action](step)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        shutil.rmtree(self._path, ignore_errors=True)

    def _create(self, step: Step) -> dict[str, Any]:
        self.close()
        gc.collect()  # what earlier steps left behind is not this one's
        with _timed() as figures:
            self._database = fl.Database.create(self._path, self._program, facts_dir=step.folder)
        return figures

    def _run(self, step: Step) -> dict[str, Any]:
        gc.collect()
        with _timed() as figures:
            _sizes(self._program.run(facts_dir=step.folder))
        return figures

    def _change(self, step: Step) -> dict[str, Any]:
        """Without a collection before it, which looks at every object and so empties the processor's caches: nobody who
        writes one transaction after the other has one in front of each."""
        database, facts, before = self._opened(), self._facts(step.folder), self._journal_size()
        with _timed() as figures, database.transaction(strategy=step.strategy) as change:
            for relation, rows in facts.items():
                (change.insert if step.action == "insert" else change.delete)(relation, rows)
        changes = [found for relation, found in change.result.items() if relation in self._derived]
        figures["changed"] = sum(len(found.inserted) + len(found.deleted) for found in changes)
        self._written = max(0, self._journal_size() - before)
        return figures

    def _journal_size(self) -> int:
        """Without the room for more at its end."""
        return sum(len(path.read_bytes().rstrip(b"\0")) for path in self._path.glob("journal-*"))

    def _sync(self, step: Step) -> dict[str, Any]:
        with self._scratch.open("wb", buffering=0) as stream:
            stream.write(bytes(self._written))
            os.fsync(stream.fileno())
            stream.seek(0)
            with _timed() as figures:
                stream.write(bytes(self._written))
                os.fdatasync(stream.fileno())
        return figures

    def _compare(self, step: Step) -> dict[str, Any]:
        if step.folder not in self._expected:
            self._expected[step.folder] = _sizes(self._program.run(facts_dir=step.folder))
        expected, found = self._expected[step.folder], _sizes(self._opened())
        wrong = [name for name, size in expected.items() if found[name] != size]
        if wrong:
            raise WrongAnswer("; ".join(f"{name} has {found[name]:,} rows, not {expected[name]:,}" for name in wrong))
        return {}

    def _check(self, step: Step) -> dict[str, Any]:
        self._compare(step)
        if problems := self._opened().check():
            raise WrongAnswer("; ".join(problems))
        return {}

    def _opened(self) -> fl.Database:
        assert self._database is not None, "a script creates a database before it changes it"
        return self._database

    def _facts(self, folder: Path) -> dict[str, list[Row]]:
        """The rows that files in a folder hold, by relation; some or all files may be missing."""
        report, facts = Report(), {}
        for directive in self._compiled.io:
            params = dict(directive.params)
            if directive.kind == "input" and (folder / params.get("filename", f"{directive.relation}.facts")).is_file():
                columns, types = self._compiled.relations[directive.relation].columns, self._compiled.types
                facts[directive.relation] = read_facts(
                    directive.relation, columns, params, types, facts_dir=folder, report=report
                )
        report.raise_if_errors()
        return facts


def _sizes(relations: Any) -> dict[str, int]:
    return {name: len(relations[name]) for name in relations}


@contextmanager
def _timed() -> Iterator[dict[str, Any]]:
    """The seconds that the block takes are in the table when it has ended."""
    figures: dict[str, Any] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield figures
    figures["wall"], figures["cpu"] = time.perf_counter() - wall, time.process_time() - cpu


def main(script: str, work: str) -> int:
    program, steps = read_script(Path(script))
    player = Player(program, Path(work))
    try:
        for step in steps:
            figures = player.play(step)
            if step.key:
                _say({"key": step.key, **figures})
    except WrongAnswer as error:
        _say({"status": "wrong", "message": str(error)[:_LONGEST]})
    except fl.FlintlogError as error:
        _say({"status": "cannot", "message": str(error)[:_LONGEST]})
    finally:
        player.close()
    return 0


def _say(table: dict[str, Any]) -> None:
    print(json.dumps(table), flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The page `docs/incremental-results.md`, of what the commands have found."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.incremental import cells, elastic, memory, table3, updates
from benchmarks.incremental.results import Found, joined, read
from benchmarks.machine import later_changes

TITLES = {
    "table3": "Adding and deleting a share of the facts",
    "updates": "Small and large updates",
    "elastic": "Thirteen epochs",
    "memory": "A new database beside a plain run",
}
_MARKDOWN: dict[str, Callable[[Sequence[Any]], str]] = {
    "table3": table3.markdown,
    "updates": updates.markdown,
    "elastic": elastic.markdown,
    "memory": memory.markdown,
}
_WHAT = {
    "table3": """\
`python -m benchmarks.incremental table3`: table 3 of "A Differential Datalog Interpreter". *Mat* is a database of so
many percent of the facts, + the transaction that adds the rest, − the transaction that deletes it again. Medians of
several random choices of the rest, each in a database of its own. *fsync* is the time to write as many bytes to disk
as the deletion writes, in a file with room for them: no transaction that survives a crash is quicker. Goals: at 99.9
% neither + nor − takes more than 2 % of Mat; − never takes more than twice the time of +.""",
    "updates": """\
`python -m benchmarks.incremental updates`: section 5.1 of "Towards Elastic Incrementalization for Datalog". Random
facts of all relations are deleted in one transaction and inserted in the next. Seconds are the least, the median and
the most over the random sets; *bootstrap* is the time in which the database was created. Rows changed are rows of
derived relations, in one transaction. Goal: ten facts of galen or points_to take at most 2 % of the bootstrap in the
median.""",
    "elastic": """\
`python -m benchmarks.incremental elastic`: section 5.2 of "Towards Elastic Incrementalization for Datalog". Epoch 0
creates the database; six small updates, a large one, four small ones and a large one follow. *recompute* runs the
program on the facts of each epoch. Totals are seconds, and in brackets the ratio to recomputing. "over" stands before
the seconds of a strategy that was cut off, for the epochs that it finished. Goals: auto takes at most 1.05 times the
best single strategy and no longer than recomputing, and no epoch takes more than 1.3 times its recomputation.""",
    "memory": """\
`python -m benchmarks.incremental memory`: processes that run the program once, and processes that create a database
and change ten facts six times. Each process starts anew; the peak is that of its whole memory. Goals: at most 1.5
times the time and 3 times the memory of the run.""",
}


def page(files: Iterable[Path]) -> str:
    """All that is in the files, in a fixed order; what a command has found may be in several. Raises BadResults."""
    by_kind: dict[str, Found] = {}
    for found in map(read, files):
        before = by_kind.get(found.kind)
        by_kind[found.kind] = found if before is None else joined(before, found)
    parts = ["<!-- Made by: python -m benchmarks.incremental report -->\n# Results of updates"]
    for kind, title in TITLES.items():
        if kind in by_kind:
            parts += [f"## {title}", _WHAT[kind], markdown(by_kind[kind])]
    return "\n\n".join(parts) + "\n"


def markdown(found: Found) -> str:
    """What one command has found: conditions, tables, goals, and what has no times."""
    return cells.paragraphs([_conditions(found), _MARKDOWN[found.kind](found.rows), _problems(found)])


def _conditions(found: Found) -> str:
    machine, settings = found.machine, found.settings
    busy = " **The machine was busy.**" if machine["load"] > 0.5 * machine["cores"] else ""
    asked = ", ".join(f"{key} {value:g}" for key, value in settings.items())
    return f"""\
- {found.started}, revision {machine["revision"]}, Python {machine["python"]}, {asked}
- {later_changes(machine["revision"])}
- {machine["cpu"]}, {machine["cores"]} cores, {machine["memory_gib"]} GiB, {machine["system"]}; load before the run \
{machine["load"]}{busy}"""


def _problems(found: Found) -> str:
    lines = [
        f"- {name}: {outcome.status}, {outcome.message}"
        for row in found.rows
        for name, outcome in row.outcomes()
        if outcome.status != "ok"
    ]
    return "\n".join(["Not measured:", "", *lines]) if lines else ""

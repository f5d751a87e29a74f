"""What a folder of `benchmarks/programs` declares: a program, its data sets, the right answers, the figures to beat."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
RIVALS = ("duckdb", "souffle")

_PROGRAM_KEYS = {"title", "source", "facts", "cannot", "data"}
_DATA_KEYS = {"name", "sizes", "values", "files", "goal", "reference"}
_FIGURE_KEYS = {"wall", "cpu", "mb", "interpreted"}


class DefinitionError(Exception):
    """A `bench.toml` that does not say what it should; the message names the file."""


@dataclass(frozen=True)
class Reference:
    """What a rival needed on a quiet machine of the kind docs/benchmarks.md describes; None if not measured."""

    wall: float | None = None
    cpu: float | None = None
    mb: float | None = None
    interpreted: bool = False


@dataclass(frozen=True)
class DataSet:
    """One data set a program runs on.

    `expected` holds what every engine prints, by relation: the row count of a `.printsize`, the rows of an
    `IO=stdout`. `files` holds what Datalog engines write beside that: file name to the SHA-256 of its sorted lines.
    """

    name: str
    expected: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    goal: float | None = None
    references: dict[str, Reference] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """A program with everything needed to run it.

    `data` begins with the smallest, `facts` maps a file name the program reads to the name the data set has for it,
    `cannot` maps a rival to the reason why it has no version of the program.
    """

    name: str
    folder: Path
    title: str
    source: str
    data: tuple[DataSet, ...]
    facts: dict[str, str] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Path:
        return self.folder / "program.dl"

    @property
    def sql(self) -> Path | None:
        path = self.folder / "duckdb.sql"
        return path if path.is_file() else None


@dataclass(frozen=True)
class Row:
    """One line of the result table: a program on a data set, named `program:data`."""

    benchmark: Benchmark
    data: DataSet

    @property
    def name(self) -> str:
        return f"{self.benchmark.name}:{self.data.name}"


def rows(patterns: Sequence[str] = (), folder: Path = PROGRAMS) -> Iterator[Row]:
    """The rows that one of the patterns names: `tc:RAND-1k`, `tc` (all its data), `*:RMAT-1k`; no pattern means all.

    Only definitions of programs that are named are read. Raises DefinitionError.
    """
    pairs = [pattern.partition(":") for pattern in patterns or ["*"]]
    for path in sorted(folder.glob("*/bench.toml")):
        wanted = [data or "*" for program, _, data in pairs if fnmatchcase(path.parent.name, program)]
        if wanted:
            benchmark = load(path.parent)
            yield from (
                Row(benchmark, data) for data in benchmark.data if any(fnmatchcase(data.name, w) for w in wanted)
            )


def load(folder: Path) -> Benchmark:
    """Read `folder/bench.toml`. Raises DefinitionError for an unknown key: a misspelt expectation must not pass."""
    path = folder / "bench.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        _only(table, _PROGRAM_KEYS)
        _only(table.get("cannot", {}), set(RIVALS))
        if not (folder / "program.dl").is_file():
            raise ValueError("there is no program.dl beside it")
        return Benchmark(
            name=folder.name,
            folder=folder,
            title=table["title"],
            source=table["source"],
            data=tuple(_data_set(entry) for entry in table["data"]),
            facts=table.get("facts", {}),
            cannot=table.get("cannot", {}),
        )
    except KeyError as error:
        raise DefinitionError(f"{path}: {error.args[0]} is missing") from error
    except (OSError, ValueError) as error:
        raise DefinitionError(f"{path}: {error}") from error


def _data_set(entry: dict[str, Any]) -> DataSet:
    _only(entry, _DATA_KEYS)
    sizes, values = entry.get("sizes", {}), entry.get("values", {})
    if not (sizes or values or entry.get("files")):
        raise ValueError(f"{entry['name']} expects nothing: give sizes, values or files")
    if both := sizes.keys() & values.keys():
        raise ValueError(f"{entry['name']} gives a size and a value for {', '.join(sorted(both))}")
    references = entry.get("reference", {})
    _only(references, set(RIVALS))
    for figures in references.values():
        _only(figures, _FIGURE_KEYS)
    return DataSet(
        name=entry["name"],
        expected={name: str(value) for name, value in (sizes | values).items()},
        files=entry.get("files", {}),
        goal=entry.get("goal"),
        references={rival: Reference(**figures) for rival, figures in references.items()},
    )


def _only(table: dict[str, Any], known: set[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"unknown key {', '.join(unknown)}; known are {', '.join(sorted(known))}")

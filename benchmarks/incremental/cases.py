"""The programs that are measured, with their data in place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks import owl2rl
from benchmarks.definition import PROGRAMS, DefinitionError, load
from benchmarks.facts import Facts, stage
from flintlog import Program

# Made from the ontology in its data, not kept in benchmarks/programs.
OWL = "owl2rl"


@dataclass(frozen=True)
class Case:
    """A program on a data set, named `program:data`; `files` are those in `folder` that the program reads."""

    name: str
    program: Path
    folder: Path
    files: tuple[str, ...]


def chosen(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Those that one of the patterns names, `tc:RAND-1k` or `tc` or `*:galen`; no pattern means all. Raises
    DefinitionError for a pattern without any."""
    known = list(names)
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in known):
            raise DefinitionError(f"nothing matches {pattern}; there are {', '.join(known)}")
    return [name for name in known if not patterns or any(_matches(name, pattern) for pattern in patterns)]


def load_case(name: str, facts: Facts, work: Path) -> Case:
    """The case with its files in place. Raises NoData."""
    program, _, data = name.partition(":")
    folder, target = facts.folder(data), work / program / data
    if program == OWL:
        owl2rl.write(folder / "T.facts", target)
        return Case(name, target / "program.dl", target, _inputs(target / "program.dl"))
    benchmark = load(PROGRAMS / program)
    staged = stage(folder, benchmark.facts, target)
    return Case(name, benchmark.program, staged, _inputs(benchmark.program))


def _inputs(program: Path) -> tuple[str, ...]:
    """The files that a program reads."""
    directives = [d for d in Program.load(program).compilation.program.io if d.kind == "input"]
    return tuple(dict.fromkeys(dict(d.params).get("filename", f"{d.relation}.facts") for d in directives))


def _matches(name: str, pattern: str) -> bool:
    program, _, data = pattern.partition(":")
    return fnmatchcase(name, f"{program}:{data or '*'}")

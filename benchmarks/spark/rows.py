"""What is compared: programs on data sets, with the right answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.definition import PROGRAMS, DataSet, DefinitionError, load
from benchmarks.facts import Facts, stage
from benchmarks.spark.contestants import Job
from benchmarks.spark.data import chain, closure, write

# A path with some arcs at its sides: deep recursion, a few hundred rows a round.
CHAIN = "chain-300"
_CHAIN_NODES, _CHAIN_NOISE = 300, 40

# Each row with the rounds that bring something new. Recursive SQL has to be told.
ROWS: dict[str, int] = {
    "tc:RAND-1k": 29,
    f"tc:{CHAIN}": _CHAIN_NODES,
    "tc:RAND-5k": 10,
    "tc_nonlinear:RMAT-1k": 5,
    "sg:TG.cedge": 53,
    "sg:cti": 43,
    "reach:gen-rmat-1m": 5,
    "cc:email-Enron": 9,
    "cc:gen-rmat-1m": 5,
    "sssp:cal.cedge": 575,
    "csda:csda-lua": 79,
    "cspa:cspa-httpd-10k": 17,
    "andersen:gen-andersen-small": 20,
}


@dataclass(frozen=True)
class SparkRow:
    """A program on a data set; `expected` is what every contestant must print, `levels` the rounds it takes."""

    program: str
    data: str
    expected: dict[str, str]
    levels: int

    @property
    def name(self) -> str:
        return f"{self.program}:{self.data}"


def chosen(patterns: Sequence[str]) -> Iterator[SparkRow]:
    """The rows that one of the patterns names, `tc:RAND-1k` or `tc` or `*:cti`; no pattern means all. Raises
    DefinitionError for a pattern without any."""
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in ROWS):
            raise DefinitionError(f"no row matches {pattern}; there are {', '.join(ROWS)}")
    for name, levels in ROWS.items():
        if not patterns or any(_matches(name, pattern) for pattern in patterns):
            program, _, data = name.partition(":")
            yield SparkRow(program, data, _expected(program, data), levels)


def job(row: SparkRow, facts: Facts, work: Path) -> Job:
    """The row with its files in place. Raises NoData."""
    benchmark = load(PROGRAMS / row.program)
    if row.data == CHAIN:
        folder = work / CHAIN
        write(chain(_CHAIN_NODES, _CHAIN_NOISE), folder / "Arc.facts")
    else:
        folder = stage(facts.folder(row.data), benchmark.facts, work / row.program / row.data)
    return Job(benchmark.program, folder.resolve(), row.program, row.levels)


def _expected(program: str, data: str) -> dict[str, str]:
    if data == CHAIN:
        return {"Tc": str(closure(chain(_CHAIN_NODES, _CHAIN_NOISE)).rows)}
    known: dict[str, DataSet] = {each.name: each for each in load(PROGRAMS / program).data}
    return known[data].expected


def _matches(name: str, pattern: str) -> bool:
    program, _, data = pattern.partition(":")
    return fnmatchcase(name, f"{program}:{data or '*'}")

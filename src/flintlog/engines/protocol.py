"""What every engine offers, and how one is found by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.engines.spark_options import SparkOptions
from flintlog.ir.program import IoDirective, Program
from flintlog.source import Span
from flintlog.types import Row

# By name; the first is the one for a single machine.
ENGINES: dict[str, str] = {
    "local": "flintlog.engines.local.engine",
    "naive": "flintlog.engines.naive",
    "spark": "flintlog.engines.spark.engine",
}


@dataclass(frozen=True)
class Progress:
    """How far a run is. `note` is said instead where there is something else to say."""

    stratum: int = 0
    strata: int = 0
    round: int = 0
    relation: str = ""
    rows: int = 0
    note: str = ""
    delta: int = 0


@dataclass
class Evaluation:
    """One run: the facts that come in, the user's functions, and where to say what is odd.

    An engine that reads sources itself finds the `.input` directives in `sources`, of relations that have no `facts`.
    `wanted` are the relations whose rows will be looked at, `sized` those of which only the number of rows will be
    asked for; None: all, and none.
    """

    facts: Mapping[str, Iterable[Row]] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    word_size: int = 64
    notify: Callable[[str, Span], None] = lambda message, span: None
    warn: Callable[[Diagnostic], None] = lambda warning: None
    progress: Callable[[Progress], None] = lambda progress: None
    memory_limit: int | None = None
    reorder: bool = True  # whether the engine may order joins by what it sees in the data
    sources: Sequence[IoDirective] = ()
    facts_dir: Path = Path()
    wanted: frozenset[str] | None = None
    sized: frozenset[str] = frozenset()
    spark: SparkOptions = field(default_factory=SparkOptions)


class Engine(Protocol):
    """Evaluates programs. The members before `run` say which forms of facts and programs the engine takes."""

    reads_columns: bool
    """Whether facts may be `io.ColumnFacts` instead of rows."""
    reads_sources: bool
    """Whether the engine reads the `.input` directives in `Evaluation.sources` itself, and takes frames of Spark's as
    facts. The caller reads files for any other engine."""
    knows_shared: bool
    """Whether programs may have subplans in `Program.shared`. Other engines get a copy at every use of a subplan."""

    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        """All rows of every relation. Raises FlintlogError for what goes wrong by the program's fault."""


@runtime_checkable
class RowsOnSpark(Protocol):
    """Rows of a result that Spark can take without a way through Python."""

    def frame(self) -> Any:
        """A DataFrame with the relation's columns."""

    def write_to(self, directive: IoDirective, output_dir: Path) -> bool:
        """Has Spark write the rows where an `.output` says; False if the caller has to write them."""


def load_engine(name: str, threads: int = 1) -> Engine:
    """The engine of that name; `auto` is the best one there is for a single machine."""
    if name == "auto":
        name = next(iter(ENGINES))
    if name not in ENGINES:
        note = did_you_mean(name, ENGINES) or f"engines: {', '.join(['auto', *ENGINES])}"
        raise FlintlogError([Diagnostic("E901", f"there is no engine `{name}`", note=note)])
    engine: Engine = import_module(ENGINES[name]).engine(threads)
    return engine

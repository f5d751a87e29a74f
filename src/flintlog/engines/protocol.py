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

# The modules by the names that users give. A run imports the one that it uses and no other.
ENGINES: dict[str, str] = {
    "local": "flintlog.engines.local.engine",
    "naive": "flintlog.engines.naive",
    "spark": "flintlog.engines.spark.engine",
}
# How the modules that are made of users' files with functors are called in `sys.modules`.
FUNCTOR_MODULES = "flintlog_functors_"


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


@dataclass(frozen=True)
class RunOptions:
    """What a caller chooses for a run.

    - `facts_dir`: where `.input` finds files.
    - `memory_limit`: bytes that the run may take; None: 80 % of the machine's.
    - `word_size`: bits of a number, 32 or 64.
    - `reorder`: whether the engine may order joins by samples of the data.
    - `wanted`: the relations whose rows the caller will read; None: all of them. `sized`: those of which the caller
      will ask only the number of rows.
    - `spark`: options of the engine `spark` alone.
    - `warn` gets warnings about the facts and the program, `progress` hears how far the run is.
    """

    facts_dir: Path = Path()
    memory_limit: int | None = None
    word_size: int = 64
    reorder: bool = True
    wanted: frozenset[str] | None = None
    sized: frozenset[str] = frozenset()
    spark: SparkOptions = field(default_factory=SparkOptions)
    warn: Callable[[Diagnostic], None] = lambda warning: None
    progress: Callable[[Progress], None] = lambda progress: None


@dataclass
class Evaluation:
    """One run of an engine: the facts, and the user's functions by the names of their functors. `sources` are `.input`
    directives for an engine that reads them itself. `notify` gets what an operation warns of, and where it stands."""

    facts: Mapping[str, Iterable[Row]] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    sources: Sequence[IoDirective] = ()
    notify: Callable[[str, Span], None] = lambda message, span: None
    options: RunOptions = field(default_factory=RunOptions)


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

    def close(self) -> None:
        """Ends what the engine keeps for results, such as a session of Spark's that it made. No result is read after
        that."""


@runtime_checkable
class RowsOnSpark(Protocol):
    """Rows of a result that Spark can take without a way through Python."""

    def frame(self) -> Any:
        """A DataFrame with the relation's columns."""

    def write_to(self, directive: IoDirective, output_dir: Path) -> bool:
        """Has Spark write the rows where an `.output` says; False if the caller has to write them."""


def load_engine(name: str, threads: int) -> Engine:
    """The engine of that name, with as many threads of its own as it has a use for."""
    if name not in ENGINES:
        note = did_you_mean(name, ENGINES) or f"engines: {', '.join(['auto', *ENGINES])}"
        raise FlintlogError([Diagnostic("E901", f"there is no engine `{name}`", note=note)])
    engine: Engine = import_module(ENGINES[name]).engine(threads)
    return engine

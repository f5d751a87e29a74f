"""The engine `spark`: facts from any source, each stratum by the strategy that suits it, results as frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.protocol import Evaluation, Progress, load_engine
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.symbol_order import constants, numbers_show
from flintlog.engines.spark.data.locations import is_address
from flintlog.engines.spark.embedded.machines import travel_by_value
from flintlog.engines.spark.sessions.masters import is_connect
from flintlog.engines.spark.sessions.session import end_session, interruptible, open_session
from flintlog.io.parameters import without_scheme
from flintlog.ir.program import Program
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words
from flintlog.types import Kind, Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkEngine:
    """Rows of the result are frames: they are fetched when they are looked at."""

    reads_columns = reads_sources = knows_shared = True

    @deep_recursion()
    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        options = evaluation.options
        spark, _ = open_session(options.spark, "flintlog", lambda text: options.progress(Progress(note=text)))
        if not is_connect(spark):  # whose directories are the server's
            _require_checkpoints(options.spark.checkpoint_dir)
        with interruptible(spark, f"flintlog-{id(evaluation)}", "flintlog: reading facts"):
            plain = _plain_inputs(spark, program, evaluation)
            if numbers_show(program):
                return self._in_one_place(spark, program, evaluation, plain)
            return self._spread(spark, program, evaluation, plain)

    def close(self) -> None:
        end_session()

    def _in_one_place(
        self, spark: SparkSession, program: Program, evaluation: Evaluation, plain: Mapping[str, DataFrame]
    ) -> Mapping[str, Collection[Row]]:
        """Programs that see numbers of symbols, or choose among rows, see them in the order of the facts."""
        from flintlog.engines.spark.results import DriverRows, rows_of_plain

        note = "the driver evaluates all strata: the program can tell in which order rows and symbols come"
        evaluation.options.progress(Progress(note=note))
        facts: dict[str, Iterable[Row]] = {
            name: rows_of_plain(program.relations[name], frame, program.types, evaluation.options.word_size)
            for name, frame in plain.items()
        }
        rows = load_engine("local", threads=1).run(without_shared(program), replace(evaluation, facts=facts))
        return {name: DriverRows(spark, program.relations[name], program.types, rows[name]) for name in rows}

    def _spread(
        self, spark: SparkSession, program: Program, evaluation: Evaluation, plain: Mapping[str, DataFrame]
    ) -> Mapping[str, Collection[Row]]:
        from flintlog.engines.spark.data.dictionaries.dictionary import Dictionary
        from flintlog.engines.spark.run import SparkRun

        machine = Machine(Words(evaluation.options.word_size), evaluation.functions, evaluation.notify)
        for symbol in constants(without_shared(program)):
            machine.word(symbol, Kind.SYMBOL)
        texts = tuple(machine.known.values)
        travel_by_value(evaluation.functions)
        dictionary = Dictionary(spark, machine, program.types)
        return SparkRun(spark, program, evaluation, dictionary, texts, plain).run()


def _require_checkpoints(directory: str | None) -> None:
    """Raises where checkpoints could not be written to a directory of this machine: now, not after hours."""
    if directory is None or is_address(directory):
        return
    path = Path(without_scheme(directory))
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    except OSError as error:
        message = f"cannot write checkpoints to `{path}`: {error.strerror or error}"
        note = "--checkpoint-dir names a directory that this machine and all executors can write to"
        raise FlintlogError([Diagnostic("E712", message, note=note)]) from None


def _plain_inputs(spark: SparkSession, program: Program, evaluation: Evaluation) -> dict[str, DataFrame]:
    """The facts of every relation that has some, as plain frames. Several inputs of one relation add up; all that is
    wrong with all of them comes in one go."""
    from flintlog.engines.spark.data.frames import union_of
    from flintlog.engines.spark.data.ingest import plain_from_frame, plain_from_rows, read_source

    frames: dict[str, DataFrame] = {}
    problems: list[Diagnostic] = []

    how: dict[str, Any] = {
        "word_size": evaluation.options.word_size,
        "bad_records": evaluation.options.spark.bad_records,
        "notify": evaluation.options.warn,
    }

    def add(name: str, make: Callable[[], DataFrame]) -> None:
        try:
            frame = make()
        except FlintlogError as error:
            problems.extend(error.diagnostics)
            return
        frames[name] = union_of([frames[name], frame]) if name in frames else frame

    facts: Mapping[str, Any] = evaluation.facts
    for name, rows in facts.items():
        relation = program.relations[name]
        if hasattr(rows, "mapInArrow"):
            add(name, partial(plain_from_frame, relation, rows, program.types, **how))
        else:
            add(name, partial(plain_from_rows, spark, relation, rows, program.types, evaluation.options.word_size))
    for directive in evaluation.sources:
        relation = program.relations[directive.relation]
        read = partial(read_source, spark, relation, directive, program.types, evaluation.options.facts_dir, **how)
        add(directive.relation, read)
    if problems:
        raise FlintlogError(problems)
    return frames


def engine(threads: int) -> SparkEngine:
    """How many tasks there are is Spark's to say, not the number of threads."""
    return SparkEngine()

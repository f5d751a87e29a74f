"""One run of a compiled program: facts in, an engine, results out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from flintlog.api.choose_engine import choose_engine
from flintlog.api.functors import bind_functors
from flintlog.api.locations import data_file, is_uri, named
from flintlog.diagnostics import Diagnostic, FlintlogError, Report, did_you_mean
from flintlog.engines.protocol import Engine, Evaluation, Progress, RowsOnSpark, load_engine
from flintlog.engines.spark_options import SparkOptions
from flintlog.io import check_output, read_facts, write_facts
from flintlog.io.atomic import require_place
from flintlog.io.column_facts import read_columns
from flintlog.io.parameters import SPARK_ONLY
from flintlog.ir.program import IoDirective, Program
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words
from flintlog.source import Span
from flintlog.types import Row

# What Spark does where there is something already.
SAVE_MODES = ("overwrite", "append", "ignore", "error", "errorifexists")


@dataclass
class Run:
    """How to run a program. `given` holds rows the caller has (or frames, for Spark); `sources` are inputs from
    elsewhere than the program says. A relation with either is not read as its `.input` says.

    `wanted` are the relations whose rows will be looked at, `sized` those of which only the number will be asked for;
    None: all, and none."""

    facts_dir: Path = Path()
    engine: str = "auto"
    threads: int = 1
    memory_limit: int | None = None
    word_size: int = 64
    reorder: bool = True
    functors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    sources: Sequence[IoDirective] = ()
    wanted: frozenset[str] | None = None
    sized: frozenset[str] = frozenset()
    spark: SparkOptions = field(default_factory=SparkOptions)
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None
    progress: Callable[[Progress], None] = lambda progress: None


def evaluate(program: Program, run: Run) -> Mapping[str, Collection[Row]]:
    """The rows of every relation that is wanted. All problems of all facts files come in one go."""
    engine = _engine(program, run)
    if not engine.knows_shared:
        program = without_shared(program)
    functions = bind_functors(program, run.functors, Words(run.word_size))
    said: set[str] = set()

    def notify(message: str, span: Span) -> None:
        if message not in said:
            said.add(message)
            run.notify(Diagnostic("W801", message, span))

    evaluation = Evaluation(
        functions=functions,
        word_size=run.word_size,
        notify=notify,
        warn=run.notify,
        progress=run.progress,
        memory_limit=run.memory_limit,
        reorder=run.reorder,
        facts_dir=run.facts_dir,
        wanted=run.wanted,
        sized=run.sized,
        spark=run.spark,
    )
    elsewhere = {*run.given, *(directive.relation for directive in run.sources)}
    inputs = [d for d in program.io if d.kind == "input" and d.relation not in elsewhere]
    if engine.reads_sources:
        evaluation.facts = dict(run.given)
        evaluation.sources = (*run.sources, *inputs)
    else:
        evaluation.facts = read_inputs(program, inputs, run, columnar=engine.reads_columns)
    return engine.run(program, evaluation)


def _engine(program: Program, run: Run) -> Engine:
    name = run.engine
    if name == "auto":
        name = choose_engine(name, program.io, run.given, run.facts_dir, run.spark, run.memory_limit).engine
    if name == "spark":
        from flintlog.engines.spark.sessions.session import require_packages

        require_packages()
    return load_engine(name, run.threads)


def end_engines() -> None:
    """Lets go of what engines keep for results that are not looked at any more: a session that was made for a run."""
    session = sys.modules.get("flintlog.engines.spark.sessions.session")
    if session is not None:
        session.end_session()


def read_inputs(
    program: Program, inputs: Iterable[IoDirective], run: Run, *, columnar: bool = False
) -> Mapping[str, Iterable[Row]]:
    """The facts that are given, and those of `.input` directives. All that is wrong with them comes in one go."""
    facts: dict[str, Iterable[Row]] = {name: list(rows) for name, rows in run.given.items()}
    report = Report()
    for directive in inputs:
        rows = _read(program, directive, run, report, columnar=columnar)
        # Several inputs of one relation add up.
        known = facts.get(directive.relation)
        facts[directive.relation] = rows if known is None else [*known, *rows]
    for warning in report.warnings:
        run.notify(warning)
    report.raise_if_errors()
    return facts


def _read(program: Program, directive: IoDirective, run: Run, report: Report, *, columnar: bool) -> Iterable[Row]:
    relation, params = program.relations[directive.relation], dict(directive.params)
    if columnar:
        columns = read_columns(
            relation.name, relation.columns, params, program.types, run.facts_dir, word_size=run.word_size
        )
        if columns is not None:
            return columns
    return read_facts(
        relation.name,
        relation.columns,
        params,
        program.types,
        facts_dir=run.facts_dir,
        word_size=run.word_size,
        report=report,
        span=directive.span,
    )


def check_outputs(program: Program, output_dir: Path, engine: str = "") -> None:
    """Raises, all together, what would keep `write_results` from writing: to be asked before the program runs."""
    report = Report()
    for directive in program.io:
        if directive.kind != "output":
            continue
        relation, params = program.relations[directive.relation], dict(directive.params)
        mode = params.get("mode", SAVE_MODES[0])
        if engine == "spark" and mode not in SAVE_MODES:
            note = did_you_mean(mode, SAVE_MODES) or f"there are {', '.join(SAVE_MODES)}"
            message = f"cannot write `{relation.name}`: there is no mode `{mode}`"
            report.error("E712", message, directive.span, note=note)
        elif str(output_dir) != "-" and not (engine == "spark" and _is_sparks(directive)):
            try:
                check_output(relation.name, relation.columns, params)
                file = data_file(directive, output_dir)
                if file is not None:
                    require_place(file)
            except FlintlogError as error:
                for diagnostic in error.diagnostics:
                    report.add(replace(diagnostic, span=directive.span))
    report.raise_if_errors()


def _is_sparks(directive: IoDirective) -> bool:
    return dict(directive.params).get("IO") in SPARK_ONLY or is_uri(named(directive))


def write_results(
    program: Program,
    rows: Mapping[str, Collection[Row]],
    output_dir: Path,
    *,
    word_size: int = 64,
    stdout: TextIO | None = None,
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None,
) -> None:
    """Writes what `.output` asks for and prints what `.printsize` asks for, in the order of evaluation. `notify` gets
    the warnings."""
    stdout = stdout or sys.stdout
    order = {name: i for i, name in enumerate(n for stratum in program.strata for n in stratum.relations)}
    wanted = [d for d in program.io if d.kind != "input"]
    for directive in sorted(wanted, key=lambda d: order[d.relation]):
        relation = program.relations[directive.relation]
        params = dict(directive.params)
        if directive.kind == "printsize":
            params["IO"] = "stdoutprintsize"
        elif str(output_dir) == "-":
            params |= {"IO": "stdout", "headers": "true"}
        elif isinstance(found := rows[relation.name], RowsOnSpark) and found.write_to(directive, output_dir):
            continue
        write_facts(
            relation.name,
            relation.columns,
            params,
            rows[relation.name],
            program.types,
            output_dir=output_dir,
            word_size=word_size,
            stdout=stdout,
            notify=notify,
            span=directive.span,
        )

"""One run of a compiled program: facts in, an engine, results out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from flintlog.api.functors import bind_functors
from flintlog.api.locations import data_file, is_uri, named
from flintlog.diagnostics import Diagnostic, FlintlogError, Report, did_you_mean
from flintlog.engines.protocol import Engine, Evaluation, RowsOnSpark, RunOptions
from flintlog.io import check_output, read_facts, write_facts
from flintlog.io.atomic import require_place
from flintlog.io.column_facts import read_columns
from flintlog.io.parameters import SPARK_ONLY
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Program
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words
from flintlog.source import Span
from flintlog.types import Row

# What Spark does where there is something already.
SAVE_MODES = ("overwrite", "append", "ignore", "error", "errorifexists")


def evaluate(
    program: Program,
    engine: Engine,
    options: RunOptions,
    *,
    functors: Mapping[str, Callable[..., Any]] | None = None,
    given: Mapping[str, Any] | None = None,
    sources: Sequence[IoDirective] = (),
) -> Mapping[str, Collection[Row]]:
    """The rows of every relation that the options want. `given` has rows that the caller holds (or frames, for an
    engine that reads sources), `sources` are inputs of the caller's own; either takes the place of a relation's
    `.input`. Raises all problems of all facts files together."""
    if not engine.knows_shared:
        program = without_shared(program)
    functions = bind_functors(program, functors or {}, Words(options.word_size))
    given = given or {}
    said: set[str] = set()

    def notify(message: str, span: Span) -> None:
        if message not in said:
            said.add(message)
            options.warn(Diagnostic("W801", message, span))

    elsewhere = {*given, *(directive.relation for directive in sources)}
    inputs = [d for d in program.io if d.kind == "input" and d.relation not in elsewhere]
    if engine.reads_sources:
        return engine.run(program, Evaluation(given, functions, (*sources, *inputs), notify, options))
    facts = read_inputs(program, inputs, options, given, columnar=engine.reads_columns)
    return engine.run(program, Evaluation(facts, functions, (), notify, options))


def read_inputs(
    program: Program,
    inputs: Iterable[IoDirective],
    options: RunOptions,
    given: Mapping[str, Iterable[Row]],
    *,
    columnar: bool,
) -> Mapping[str, Iterable[Row]]:
    """The facts that are given, and those of `.input` directives. Raises all that is wrong with them together."""
    facts: dict[str, Iterable[Row]] = {name: list(rows) for name, rows in given.items()}
    report = Report()
    for directive in inputs:
        rows = _read(program, directive, options, report, columnar=columnar)
        # Several inputs of one relation add up.
        known = facts.get(directive.relation)
        facts[directive.relation] = rows if known is None else [*known, *rows]
    for warning in report.warnings:
        options.warn(warning)
    report.raise_if_errors()
    return facts


def _read(
    program: Program, directive: IoDirective, options: RunOptions, report: Report, *, columnar: bool
) -> Iterable[Row]:
    relation, params = program.relations[directive.relation], dict(directive.params)
    if columnar:
        columns = read_columns(
            relation.name, relation.columns, params, program.types, options.facts_dir, word_size=options.word_size
        )
        if columns is not None:
            return columns
    return read_facts(
        relation.name,
        relation.columns,
        params,
        program.types,
        facts_dir=options.facts_dir,
        word_size=options.word_size,
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
        relation, found = program.relations[directive.relation], rows[directive.relation]
        params = dict(directive.params)
        if directive.kind == "printsize":
            params["IO"] = "stdoutprintsize"
        elif str(output_dir) == "-":
            params |= {"IO": "stdout", "headers": "true"}
        elif isinstance(found, RowsOnSpark) and found.write_to(directive, output_dir):
            continue
        schema = Schema(relation.name, relation.columns, program.types, word_size)
        write_facts(schema, params, found, output_dir=output_dir, stdout=stdout, notify=notify, span=directive.span)

"""One run of a compiled program: facts in, an engine, results out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from flintlog.api.functors import bind_functors
from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.engine import Evaluation, Progress, load_engine
from flintlog.io import check_output, read_facts, write_facts
from flintlog.io.column_facts import read_columns
from flintlog.ir.program import IoDirective, Program
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words
from flintlog.source import Span
from flintlog.types import Row


@dataclass
class Run:
    """How to run a program. `given` holds rows the caller has; a relation that has them is not read from files."""

    facts_dir: Path = Path()
    engine: str = "auto"
    threads: int = 1
    memory_limit: int | None = None
    word_size: int = 64
    reorder: bool = True
    functors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    given: Mapping[str, Collection[Row]] = field(default_factory=dict)
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None
    progress: Callable[[Progress], None] = lambda progress: None


def evaluate(program: Program, run: Run) -> Mapping[str, Collection[Row]]:
    """The rows of every relation. All problems of all facts files come in one go."""
    engine = load_engine(run.engine, run.threads)
    if not getattr(engine, "knows_shared", False):
        program = without_shared(program)
    functions = bind_functors(program, run.functors, Words(run.word_size))
    facts: dict[str, Iterable[Row]] = {name: list(rows) for name, rows in run.given.items()}
    report = Report()
    for directive in program.io:
        if directive.kind == "input" and directive.relation not in run.given:
            rows = _read(program, directive, run, report, columnar=engine.reads_columns)
            # Several inputs of one relation add up.
            known = facts.get(directive.relation)
            facts[directive.relation] = rows if known is None else [*known, *rows]
    for warning in report.warnings:
        run.notify(warning)
    report.raise_if_errors()
    said: set[str] = set()

    def notify(message: str, span: Span) -> None:
        if message not in said:
            said.add(message)
            run.notify(Diagnostic("W801", message, span))

    evaluation = Evaluation(facts, functions, run.word_size, notify, run.progress, run.memory_limit, run.reorder)
    return engine.run(program, evaluation)


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


def check_outputs(program: Program, output_dir: Path) -> None:
    """Raises, all together, what would keep `write_results` from writing: to be asked before the program runs."""
    report = Report()
    for directive in program.io:
        if directive.kind == "output" and str(output_dir) != "-":
            relation = program.relations[directive.relation]
            try:
                check_output(relation.name, relation.columns, dict(directive.params))
            except FlintlogError as error:
                for diagnostic in error.diagnostics:
                    report.add(replace(diagnostic, span=directive.span))
    report.raise_if_errors()


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

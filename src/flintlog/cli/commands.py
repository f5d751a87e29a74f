"""The commands: a function for each, which returns the exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from flintlog.api.choose_engine import choose_engine, spark_options
from flintlog.api.functors import load_functors
from flintlog.api.locations import data_file, located
from flintlog.api.run import check_outputs, evaluate, write_results
from flintlog.api.user_program import Program
from flintlog.cli.progress import ProgressLine
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.memory import parse_size
from flintlog.engines.protocol import RunOptions, load_engine
from flintlog.engines.spark_options import SparkOptions
from flintlog.io.parameters import without_scheme
from flintlog.passes.sequence import engine_may


def run(args: Namespace) -> int:
    if args.jobs not in (None, "auto") and not (args.jobs.isascii() and args.jobs.isdigit() and int(args.jobs) > 0):
        raise FlintlogError(
            [Diagnostic("E900", f"-j {args.jobs}: not a number of threads", note="try -j 2 or -j auto")]
        )
    facts_dir, output_dir = Path(without_scheme(args.fact_dir)), Path(without_scheme(args.output_dir))
    spark = _spark_options(args)
    memory_limit = parse_size(args.memory_limit) if args.memory_limit else None
    program = _load(args)
    _show_warnings(program, args.no_warn or args.quiet)
    lowered = located(program.optimised(args.without, verified=args.verify_passes), args.fact_dir, args.output_dir)
    reads_files = any(data_file(directive, facts_dir) for directive in lowered.io if directive.kind == "input")
    if reads_files and not facts_dir.is_dir():
        raise FlintlogError(
            [
                Diagnostic(
                    "E906", f"there is no facts directory `{facts_dir}`", note="-F names the directory of the facts"
                )
            ]
        )
    line = ProgressLine(sys.stderr)
    watched = args.progress or (sys.stderr.isatty() and not args.quiet)
    outputs = frozenset(d.relation for d in lowered.io if d.kind == "output")
    options = RunOptions(
        facts_dir=facts_dir,
        memory_limit=memory_limit,
        word_size=args.word_size,
        reorder=engine_may("samples", args.without),
        wanted=outputs,
        sized=frozenset(d.relation for d in lowered.io if d.kind == "printsize") - outputs,
        spark=spark,
        warn=lambda d: None if args.no_warn or args.quiet else print(d.render(), file=sys.stderr),
        progress=lambda progress: line(progress) if watched or (progress.note and not args.quiet) else None,
    )
    choice = choose_engine(args.engine, options, lowered.io, {})
    if choice.engine == "spark":
        _silence_py4j()
    if choice.reason and not args.quiet:
        print(f"engine: {choice.engine} ({choice.reason})", file=sys.stderr)
    check_outputs(lowered, output_dir, choice.engine)
    functors = load_functors(Path(args.functors)) if args.functors else program.functors()
    threads = (os.cpu_count() or 1) if args.jobs == "auto" else int(args.jobs or 1)
    with closing(load_engine(choice.engine, threads)) as engine:
        try:
            rows = evaluate(lowered, engine, options, functors=functors)
        finally:
            line.clear()
        write_results(lowered, rows, output_dir, word_size=args.word_size, notify=options.warn)
    return 0


def check(args: Namespace) -> int:
    program = _load(args)
    problems = [d for d in program.check() if d.is_error or not args.no_warn]
    for problem in problems:
        print(problem.render(), file=sys.stderr)
    errors = sum(d.is_error for d in problems)
    warnings = len(problems) - errors
    found = [f"{n} {what}{'s' if n > 1 else ''}" for n, what in ((errors, "error"), (warnings, "warning")) if n]
    print(f"{args.program}: {', '.join(found) or 'no problems'}", file=sys.stderr)
    return 1 if errors else 0


def explain(args: Namespace) -> int:
    program = _load(args)
    _show_warnings(program, args.no_warn)
    sys.stdout.write(program.explain(args.stage, format=args.format, without=args.without).rstrip("\n") + "\n")
    return 0


def db(args: Namespace) -> int:
    from flintlog.cli import db_commands

    if args.action == "create":
        program = _load(args)
        # W201 is about relations without rules and inputs; here transactions will fill them.
        _show_warnings(program, args.no_warn, but=("W201",))
        return db_commands.create(args, program)
    code: int = getattr(db_commands, args.action)(args)
    return code


def _silence_py4j() -> None:
    """Keeps py4j's messages about interrupted calls off the terminal: the root logger prints if it has no handler."""
    import logging

    logging.getLogger().addHandler(logging.NullHandler())


def _spark_options(args: Namespace) -> SparkOptions:
    master = args.master
    if master is None and args.engine == "spark" and args.jobs is not None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        master = f"local[{'*' if args.jobs == 'auto' else args.jobs}]"  # spark-submit sets a master itself
    return spark_options(
        master=master,
        strategy=args.strategy,
        partitions=args.partitions,
        checkpoint_dir=args.checkpoint_dir,
        checkpoint_every=args.checkpoint_every,
        bad_records=args.bad_records,
    )


def _load(args: Namespace) -> Program:
    defines = dict(_macro(definition) for text in args.macro for definition in text.split())
    include_dirs = tuple(Path(directory) for directory in args.include_dir)
    return Program.load(args.program, word_size=args.word_size, include_dirs=include_dirs, defines=defines)


def _macro(definition: str) -> tuple[str, str]:
    """The name and value of a macro; as for a C compiler's -D, the default value is 1."""
    name, given, value = definition.partition("=")
    return name, value if given else "1"


def _show_warnings(program: Program, silent: bool, but: Sequence[str] = ()) -> None:
    """Prints all warnings. Errors are raised later, when the program is first used."""
    if not silent:
        for problem in program.check():
            if not problem.is_error and problem.code not in but:
                print(problem.render(), file=sys.stderr)

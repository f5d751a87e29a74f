"""`flintlog`: reads the command line, runs a command, and turns errors into messages and exit codes.

Exit codes: 0 done, 1 the user's mistake, 2 a bug of Flintlog's, 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import flintlog
from flintlog.cli.db_options import add_db_commands
from flintlog.cli.output import is_no_room, let_go_of_output, open_what_is_closed


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"error[E900]: {message}\n")


def _program_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("program", metavar="PROGRAM.dl", help="the program")
    command.add_argument(
        "-I",
        "--include-dir",
        metavar="DIR",
        action="append",
        default=[],
        help="search included files there, too",
    )
    command.add_argument(
        "-M", "--macro", metavar="NAME[=VALUE]", action="append", default=[], help="define a macro of the preprocessor"
    )
    command.add_argument(
        "--word-size", type=int, choices=(32, 64), default=64, help="bits of a number (default: %(default)s)"
    )
    command.add_argument("-w", "--no-warn", action="store_true", help="do not show warnings")


def _without_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--without",
        metavar="PASS",
        action="append",
        default=[],
        help="switch a pass of the optimizer off, or `all`; may be repeated",
    )


def _spark_options(command: argparse.ArgumentParser) -> None:
    spark = command.add_argument_group("on Spark")
    spark.add_argument("--master", metavar="URL", help="local[*], spark://host:7077, yarn, … as spark-submit takes it")
    spark.add_argument(
        "--strategy", metavar="NAME", help="auto, dataframe, decomposed, resident or single (default: auto)"
    )
    spark.add_argument("--partitions", metavar="N", type=int, help="parts of a stratum (default: as many as slots)")
    spark.add_argument("--checkpoint-dir", metavar="DIR", help="the directory for checkpoints and snapshots")
    spark.add_argument("--checkpoint-every", metavar="K", type=int, help="rounds between two checkpoints (default: 20)")
    spark.add_argument(
        "--bad-records",
        metavar="refuse|DIR",
        help="refuse rows that do not fit, or write them to DIR (default: refuse)",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="flintlog", description="Datalog in Soufflé's dialect.")
    parser.add_argument("--version", action="version", version=f"flintlog {flintlog.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="run a program", description="Run a program: facts in, results out.")
    _program_options(run)
    run.add_argument("-F", "--fact-dir", metavar="DIR", default=".", help="directory of facts files (default: here)")
    run.add_argument(
        "-D", "--output-dir", metavar="DIR", default=".", help="directory for results; `-` for stdout (default: here)"
    )
    run.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        help="threads of the local engine, or `auto` for all cores (default: 1)",
    )
    run.add_argument(
        "--engine",
        metavar="NAME",
        default="auto",
        help="local; spark; naive: the reference engine; or auto, which looks at the data (default: auto)",
    )
    _spark_options(run)
    _without_option(run)
    run.add_argument("--verify-passes", action="store_true", help="check the optimizer's work after each pass")
    run.add_argument("--functors", metavar="FILE.py", help="functors in Python (default: functors.py by the program)")
    run.add_argument(
        "--memory-limit", metavar="SIZE", help="memory that a run may use, as 500M or 2G (default: 80 %% of all)"
    )
    talk = run.add_mutually_exclusive_group()
    talk.add_argument("--quiet", action="store_true", help="print results and errors only")
    talk.add_argument("--progress", action="store_true", help="print progress, also if stderr is no terminal")

    check = commands.add_parser("check", help="show every problem of a program")
    _program_options(check)

    explain = commands.add_parser("explain", help="show a program after a stage of the compiler")
    _program_options(explain)
    explain.add_argument("--stage", default="ir", help="ast, checked, ir or optimised (default: %(default)s)")
    explain.add_argument("--format", default="text", help="text; dot or html for ir and optimised (default: text)")
    _without_option(explain)

    add_db_commands(commands, _program_options)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    open_what_is_closed()
    try:
        with _interrupts() as heard:
            try:
                return _run(_parser().parse_args(argv))
            except Exception as error:
                if heard:  # imports, and Python called from C, turn it into other errors
                    raise KeyboardInterrupt from error
                return _bug(error)
    except KeyboardInterrupt as interrupt:
        print(": ".join(["interrupted", *map(str, interrupt.args)]), file=sys.stderr)
        return 130


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list of the interrupts received in the block; each raises KeyboardInterrupt, as usual."""
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield heard  # the program has a handler of its own
        return
    signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def _run(args: argparse.Namespace) -> int:
    # The compiler is imported only here, so that help and errors in options appear at once.
    from flintlog.cli import commands
    from flintlog.diagnostics import Diagnostic, FlintlogError

    try:
        code: int = getattr(commands, args.command)(args)
        sys.stdout.flush()
        return code
    except FlintlogError as error:
        print(error, file=sys.stderr)
        return 1
    except MemoryError:
        note = "does a rule make rows without end? `.limitsize` stops it"
        print(Diagnostic("E802", "the program needs more memory than there is", note=note).render(), file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the output has ended: no message would reach it.
        let_go_of_output()
        return 0
    except OSError as error:
        if not is_no_room(error):
            raise
        let_go_of_output()
        print(Diagnostic("E712", f"cannot write the output: {error.strerror}").render(), file=sys.stderr)
        return 1


def _bug(error: Exception) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="flintlog-", suffix=".log", delete=False) as log:
        traceback.print_exception(error, file=log)
    print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"  note: this is a bug of Flintlog's; please report it with the program and {log.name}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks run|report|compare|list`."""

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from benchmarks import compare, machine, report, results
from benchmarks.contestants import ROOT, Absent, Flintlog, find_flintlog, rivals
from benchmarks.definition import PROGRAMS, RIVALS, DefinitionError, rows
from benchmarks.facts import VARIABLE, Facts, NoData, from_environment
from benchmarks.runner import Runner

BUILD = ROOT / "build"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        code: int = given.action(given)
        return code
    except (NoData, Absent, DefinitionError, results.BadResults) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("benchmarks: interrupted; rows that were complete are in the result file", file=sys.stderr)
        return 130


def _run(given: argparse.Namespace) -> int:
    chosen = list(rows(given.only, given.programs))
    if not chosen:
        raise DefinitionError(f"no row matches {' '.join(given.only)}; `benchmarks list` shows them")
    facts = Facts(from_environment(given.data), BUILD / "bench-data")
    described = machine.describe(ROOT)  # before anything runs: the load must not be ours
    flintlog = Flintlog(find_flintlog(given.flintlog), given.engine, given.threads)
    others, absent = rivals(given.rivals, given.threads, BUILD / "bench-souffle")
    for name, reason in absent.items():
        print(f"without {name}: {reason}", file=sys.stderr)
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    settings = {key: getattr(given, key) for key in ("engine", "threads", "repeat", "timeout", "warm_up")}
    contestants = [flintlog, *others]
    measured = results.Results(
        started, described, settings, {contestant.name: contestant.version for contestant in contestants}, absent
    )
    runner = Runner(
        contestants,
        facts,
        BUILD / "bench-work",
        given.repeat,
        given.timeout,
        given.warm_up,
        lambda line: print(line, flush=True),
    )
    out = given.out or BUILD / "bench-results" / f"{started.replace(':', '')}.json"
    for row in chosen:
        measured.rows.append(runner.run_row(row))
        measured.save(out)  # after every row: an interrupted run keeps what it has
    print(f"\n{report.markdown(measured)}\nwritten to {out}")
    bad = [row for row in measured.rows if row.outcomes["flintlog"].status in ("wrong", "failed", "timeout")]
    return 1 if bad else 0


def _report(given: argparse.Namespace) -> int:
    measured = results.read(given.result)
    if given.output is None:
        print(report.markdown(measured), end="")
        return 0
    given.output.mkdir(parents=True, exist_ok=True)
    try:
        from benchmarks.plots import draw

        plots = draw(measured, given.output)
    except ModuleNotFoundError as error:
        print(f"without plots: {error.name} is not installed here; `make bench` installs it", file=sys.stderr)
        plots = []
    page = given.output / "report.md"
    page.write_text(report.markdown(measured, plots), encoding="utf-8")
    print(page)
    return 0


def _compare(given: argparse.Namespace) -> int:
    print(compare.markdown(results.read(given.before), results.read(given.after)), end="")
    return 0


def _list(given: argparse.Namespace) -> int:
    for row in rows(given.only, given.programs):
        print(f"{row.name:36} {row.benchmark.title}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure Flintlog and its rivals: docs/benchmarks.md"
    )
    actions = parser.add_subparsers(required=True)
    choice = argparse.ArgumentParser(add_help=False)
    choice.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="rows to take, as program:data; may be repeated"
    )
    choice.add_argument("--programs", type=Path, default=PROGRAMS, metavar="DIR", help="folder of the programs")

    run = actions.add_parser("run", parents=[choice], help="measure, and write a result file")
    run.add_argument("--data", type=Path, metavar="DIR", help=f"where the data sets are (default: ${VARIABLE})")
    run.add_argument("--rivals", type=_rivals, default=list(RIVALS), metavar="NAMES", help="of duckdb,souffle; or none")
    run.add_argument(
        "--repeat", type=_positive, default=3, metavar="N", help="timed runs of each contestant (default 3)"
    )
    run.add_argument("--threads", type=_positive, default=2, metavar="N", help="threads of each contestant (default 2)")
    run.add_argument("--engine", default="auto", help="flintlog's engine (default auto)")
    run.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="seconds after which a run is killed (default 600)"
    )
    run.add_argument("--warm-up", choices=["row", "small", "none"], default="row", help="the untimed run of flintlog")
    run.add_argument("--flintlog", type=Path, metavar="COMMAND", help="the command to measure")
    run.add_argument("--out", type=Path, metavar="FILE.json", help="the result file (default: in build/bench-results)")
    run.set_defaults(action=_run)

    show = actions.add_parser("report", help="a result file as a Markdown table and plots")
    show.add_argument("result", type=Path)
    show.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write report.md and plots there; else print the table"
    )
    show.set_defaults(action=_report)

    pair = actions.add_parser("compare", help="two result files side by side")
    pair.add_argument("before", type=Path)
    pair.add_argument("after", type=Path)
    pair.set_defaults(action=_compare)

    listing = actions.add_parser("list", parents=[choice], help="the rows there are")
    listing.set_defaults(action=_list)
    return parser


def _rivals(text: str) -> list[str]:
    names = [] if text == "none" else text.split(",")
    if unknown := [name for name in names if name not in RIVALS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(RIVALS)}, and none")
    return names


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

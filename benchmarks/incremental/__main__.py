"""`python -m benchmarks.incremental table3|updates|elastic|memory|report`."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from benchmarks import machine
from benchmarks.contestants import ROOT
from benchmarks.definition import DefinitionError
from benchmarks.facts import VARIABLE, Facts, NoData, from_environment
from benchmarks.incremental import elastic, memory, page, results, table3, updates
from benchmarks.incremental.cases import Case, chosen, load_case
from benchmarks.incremental.sampling import TooFew
from benchmarks.incremental.workloads import WORKLOADS
from benchmarks.results import BadResults

PAGE = ROOT / "docs" / "incremental-results.md"
UNPACKED = ROOT / "build" / "bench-data"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        code: int = given.action(given)
        return code
    except (NoData, DefinitionError, BadResults, TooFew) as error:
        print(f"benchmarks.incremental: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _table3(given: argparse.Namespace) -> int:
    def rows(case: Case, work: Path) -> Iterator[results.Row]:
        for percent in given.batches:
            yield table3.measure(case, percent, given.sets, work, given.limit)

    return _measured("table3", table3.CASES, "sets", rows, given)


def _updates(given: argparse.Namespace) -> int:
    def rows(case: Case, work: Path) -> Iterator[results.Row]:
        for strategy in given.strategies:
            for size in WORKLOADS[case.name].sizes:
                if given.sizes and size not in given.sizes:
                    continue
                yield updates.measure(case, strategy, size, given.sets, work, given.limit)

    return _measured("updates", WORKLOADS, "sets", rows, given)


def _elastic(given: argparse.Namespace) -> int:
    def rows(case: Case, work: Path) -> Iterator[results.Row]:
        for strategy in given.strategies:
            yield elastic.measure(case, strategy, given.repeat, work, given.limit)

    return _measured("elastic", WORKLOADS, "repeat", rows, given)


def _memory(given: argparse.Namespace) -> int:
    def rows(case: Case, work: Path) -> Iterator[results.Row]:
        yield memory.measure(case, given.repeat, work, given.limit)

    return _measured("memory", memory.CASES, "repeat", rows, given)


def _measured(
    kind: str,
    names: Iterable[str],
    times: str,
    rows: Callable[[Case, Path], Iterator[results.Row]],
    given: argparse.Namespace,
) -> int:
    """Measures the cases that are chosen, as often as the option `times` says; returns 1 if an answer was wrong or a
    process failed."""
    cases = chosen(names, given.only)
    facts = Facts(from_environment(given.data), UNPACKED)
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    found = results.Found(kind, started, machine.describe(ROOT), {times: getattr(given, times)})
    work = results.FOLDER / "work"
    work.mkdir(parents=True, exist_ok=True)
    bad = False
    for name in cases:
        try:
            case = load_case(name, facts, work)
        except NoData as missing:
            _say(f"{name}: {missing}")
            continue
        for row in rows(case, work):
            found.rows.append(row)
            found.save(given.json)  # after every row: an interrupted run keeps what it has
            for what, outcome in row.outcomes():
                _say(f"{what}: {outcome.status} {outcome.message}".rstrip())
                bad = bad or outcome.status in ("wrong", "failed")
    file = found.save(given.json)
    _say(f"\n{page.markdown(found)}\n\nwritten to {file}")
    return int(bad)


def _report(given: argparse.Namespace) -> int:
    files = given.results or [file for kind in page.TITLES if (file := results.FOLDER / f"{kind}.json").is_file()]
    if not files:
        raise BadResults(f"there is nothing in {results.FOLDER} yet")
    given.output.write_text(page.page(files), encoding="utf-8")
    _say(str(given.output))
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.incremental",
        description="Measure databases that are kept current: docs/benchmarks.md",
    )
    actions = parser.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, metavar="DIR", help=f"where the data sets are (default: ${VARIABLE})")
    common.add_argument("--only", type=_list, default=[], metavar="CASES", help="cases to take: tc:RAND-1k,rdfs")
    common.add_argument(
        "--json", type=Path, metavar="FILE", help="the result file (default: in build/bench-incremental)"
    )
    common.add_argument("--limit", type=float, default=1800.0, metavar="S", help="seconds for a process (default 1800)")

    shares = actions.add_parser("table3", parents=[common], help="a share of the facts, the rest added and deleted")
    _add_count(shares, "--sets", 5, "random choices of the rest")
    shares.add_argument("--batches", type=_numbers, default=list(table3.BATCHES), help="percent: 50,75,90,99,99.9")
    shares.set_defaults(action=_table3)

    sizes = actions.add_parser("updates", parents=[common], help="random facts deleted and inserted again")
    _add_count(sizes, "--sets", 5, "random sets of each size")
    sizes.add_argument("--sizes", type=_numbers, default=[], help="some of the sizes, as 10,100 (default: all)")
    sizes.add_argument("--strategies", type=_database_strategies, default=[elastic.AUTO], help="default: auto")
    sizes.set_defaults(action=_updates)

    epochs = actions.add_parser("elastic", parents=[common], help="small and large updates, with every strategy")
    _add_count(epochs, "--repeat", 3, "times that all epochs are measured, or fewer where they take long")
    epochs.add_argument("--strategies", type=_strategies, default=list(elastic.STRATEGIES), help="default: all")
    epochs.set_defaults(action=_elastic)

    footprints = actions.add_parser("memory", parents=[common], help="time and memory of a new database and of a run")
    _add_count(footprints, "--repeat", 3, "processes of each kind")
    footprints.set_defaults(action=_memory)

    report = actions.add_parser("report", help="a page of what the commands have found")
    report.add_argument("results", type=Path, nargs="*", metavar="FILE.json", help="default: those of the last runs")
    report.add_argument("-o", "--output", type=Path, default=PAGE, help="default: docs/incremental-results.md")
    report.set_defaults(action=_report)
    return parser


def _add_count(parser: argparse.ArgumentParser, option: str, default: int, what: str) -> None:
    parser.add_argument(option, type=_positive, default=default, metavar="N", help=f"{what} (default {default})")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: a number from 1 on")
    return int(text)


def _list(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> list[float]:
    return [float(word) for word in _list(text)]


def _strategies(text: str) -> list[str]:
    names = _list(text)
    if unknown := [name for name in names if name not in elastic.STRATEGIES]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(elastic.STRATEGIES)}")
    return names


def _database_strategies(text: str) -> list[str]:
    names = _strategies(text)
    if elastic.RECOMPUTE in names:
        raise argparse.ArgumentTypeError("recompute is no strategy of a database")
    return names


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # on the way out, the worker is ended
    sys.exit(main())

"""`python -m benchmarks.spark compare|rounds|growth|spill|report`."""

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pyspark import __version__ as spark_version

from benchmarks import machine
from benchmarks.contestants import ROOT
from benchmarks.definition import DefinitionError
from benchmarks.facts import VARIABLE, Facts, NoData, from_environment
from benchmarks.results import BadResults
from benchmarks.spark import growth, page, results, rounds, rows, spill
from benchmarks.spark.compare import Comparer
from benchmarks.spark.contestants import HAND_WRITTEN, RECURSIVE_SQL, STRATEGIES
from benchmarks.spark.process import Failed, Late

PAGE = ROOT / "docs" / "spark-results.md"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        code: int = given.action(given)
        return code
    except (NoData, DefinitionError, BadResults, Late, Failed) as error:
        print(f"benchmarks.spark: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _compare(given: argparse.Namespace) -> int:
    chosen = list(rows.chosen(given.only))
    facts = Facts(from_environment(given.data), ROOT / "build" / "bench-data")
    settings = {key: getattr(given, key) for key in ("repeat", "limit", "master", "memory")} | {"spark": spark_version}
    contestants = [*given.rivals, *given.strategies]
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    found = results.Comparison(started, machine.describe(ROOT), settings, contestants)
    work = results.FOLDER / "compare"
    comparer = Comparer(contestants, given.repeat, given.limit, given.master, given.memory, work, _say)
    for row in chosen:
        try:
            found.rows.append(comparer.run_row(row, rows.job(row, facts, work)))
        except NoData as missing:
            _say(f"{row.name}: {missing}")
            continue
        results.save("compare", found, given.json)  # after every row: an interrupted run keeps what it has
    return _shown("compare", found, given.json)


def _rounds(given: argparse.Namespace) -> int:
    found = rounds.Rounds(machine.describe(ROOT), {"repeat": given.repeat, "memory": given.memory})
    for way in rounds.WAYS:
        if way.strategy in given.strategies:
            repeat = 1 if way.strategy == "dataframe" else given.repeat  # its minutes are an average by themselves
            cost = rounds.measure(way, results.FOLDER / "rounds", repeat, given.limit, given.memory, _say)
            found.costs.append(cost)
    return _shown("rounds", found, given.json)


def _growth(given: argparse.Namespace) -> int:
    found = growth.Growths(machine.describe(ROOT), {"repeat": given.repeat, "memory": given.memory})
    for base in growth.BASES:
        if base.strategy in given.strategies:
            grown = growth.measure(base, results.FOLDER / "growth", given.repeat, given.limit, given.memory, _say)
            found.growths.append(grown)
    return _shown("growth", found, given.json)


def _spill(given: argparse.Namespace) -> int:
    work = results.FOLDER / "spill"
    found = spill.measure(given.gib, given.partitions, work, given.limit, machine.describe(ROOT), _say)
    return _shown("spill", found, given.json)


def _report(given: argparse.Namespace) -> int:
    files = given.results or [file for name in page.TITLES if (file := results.FOLDER / f"{name}.json").is_file()]
    if not files:
        raise BadResults(f"there is nothing in {results.FOLDER} yet")
    given.output.write_text(page.page(files), encoding="utf-8")
    print(given.output)
    return 0


def _shown(name: str, found: object, path: Path | None) -> int:
    file = results.save(name, found, path)
    print(f"\n{page.markdown(results.read(file))}\n\nwritten to {file}")
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spark", description="Measure Flintlog on Spark: docs/benchmarks.md"
    )
    actions = parser.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", type=Path, metavar="FILE", help="the result file (default: in build/bench-spark)")
    common.add_argument("--repeat", type=int, default=3, metavar="N", help="timed runs of each (default 3)")
    common.add_argument("--memory", default="3g", help="of each session's Java (default 3g)")
    strategies = ",".join(STRATEGIES)
    common.add_argument("--strategies", type=_strategies, default=strategies, help=f"some of {strategies}")

    compare = actions.add_parser("compare", parents=[common], help="the hand-written loop, recursive SQL and Flintlog")
    compare.add_argument("--data", type=Path, metavar="DIR", help=f"where the data sets are (default: ${VARIABLE})")
    compare.add_argument("--only", type=_list, default=[], metavar="ROWS", help="rows to take: tc:RAND-1k,sg")
    compare.add_argument("--rivals", type=_rivals, default="loop,sql", help="some of loop,sql; or none")
    compare.add_argument("--limit", type=float, default=120.0, metavar="S", help="seconds for a run (default 120)")
    compare.add_argument("--master", default="local[2]", help="default local[2]")
    compare.set_defaults(action=_compare)

    for name, action, what in (
        ("rounds", _rounds, "what a round costs beside its work"),
        ("growth", _growth, "time against data, once to eight times"),
    ):
        command = actions.add_parser(name, parents=[common], help=what)
        command.add_argument("--limit", type=float, default=600.0, metavar="S", help="seconds for a run (default 600)")
        command.set_defaults(action=action)

    large = actions.add_parser("spill", help="a result of several GiB on executors of one")
    large.add_argument("--gib", type=float, default=2.0, help="of the result (default 2)")
    large.add_argument("--partitions", type=int, metavar="N", help="of the stratum (default: as Flintlog chooses)")
    large.add_argument("--limit", type=float, default=1800.0, metavar="S", help="seconds for the run (default 1800)")
    large.add_argument("--json", type=Path, metavar="FILE", help="the result file (default: in build/bench-spark)")
    large.set_defaults(action=_spill)

    report = actions.add_parser("report", help="a page of what the commands have found")
    report.add_argument("results", type=Path, nargs="*", metavar="FILE.json", help="default: those of the last runs")
    report.add_argument("-o", "--output", type=Path, default=PAGE, help="default: docs/spark-results.md")
    report.set_defaults(action=_report)
    return parser


def _list(text: str) -> list[str]:
    return text.split(",")


def _strategies(text: str) -> list[str]:
    names = _list(text)
    if unknown := [name for name in names if name not in STRATEGIES]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(STRATEGIES)}")
    return names


def _rivals(text: str) -> list[str]:
    known = {"loop": HAND_WRITTEN, "sql": RECURSIVE_SQL}
    names = [] if text == "none" else _list(text)
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(known)}, and none")
    return [known[name] for name in names]


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # on the way out, every worker is ended
    sys.exit(main())

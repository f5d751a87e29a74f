"""`python -m benchmarks.robustness`: does it matter in which order the atoms of a rule are written?

Every order without a cross product is the written order once, with the optimizer and without it. The table has the
fastest and the slowest of them for each rule (FlowLog, figure 9).
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from benchmarks import machine
from benchmarks.answer import wrong_parts
from benchmarks.contestants import ROOT, Absent, find_flintlog
from benchmarks.definition import PROGRAMS, DataSet, DefinitionError, load
from benchmarks.facts import VARIABLE, Facts, NoData, from_environment
from benchmarks.process import measure
from benchmarks.robustness_rules import RULES, JoinRule, Order, orders, spread, written_in

BUILD = ROOT / "build"
WAYS: dict[str, list[str]] = {"with": [], "without": ["--without", "all"]}


@dataclass
class Spread:
    """The seconds that each order took, by way; None where it was killed after `timeout` seconds."""

    rule: str
    timeout: float
    seconds: dict[str, list[float | None]] = field(default_factory=lambda: {way: [] for way in WAYS})
    wrong: list[str] = field(default_factory=list)

    def fastest(self, way: str) -> float:
        return min((s for s in self.seconds[way] if s is not None), default=self.timeout)

    def slowest(self, way: str) -> float:
        return max((self.timeout if s is None else s for s in self.seconds[way]), default=0.0)

    def is_late(self, way: str) -> bool:
        return None in self.seconds[way]


def table(spreads: Sequence[Spread]) -> str:
    """The Markdown table.

    >>> print(table([Spread("r", 9.0, {"with": [1.0, 1.5], "without": [1.0, None]})]))
    | rule | orders | fastest | slowest | slowest ÷ fastest | fastest without | slowest without | ratio without |
    |---|--:|--:|--:|--:|--:|--:|--:|
    | r | 2 | 1.00 s | 1.50 s | 1.5 | 1.00 s | > 9.00 s | > 9.0 |
    """
    lines = [
        "| rule | orders | fastest | slowest | slowest ÷ fastest | fastest without | slowest without | ratio without |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for found in spreads:
        cells = [found.rule, str(len(found.seconds["with"]))]
        for way in WAYS:
            more = "> " if found.is_late(way) else ""
            fastest, slowest = found.fastest(way), found.slowest(way)
            cells += [f"{fastest:.2f} s", f"{more}{slowest:.2f} s", f"{more}{slowest / fastest:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


@dataclass
class Measurement:
    """How the variants of a program are run."""

    flintlog: Path
    facts: Facts
    engine: str
    threads: int
    repeat: int
    timeout: float
    work: Path

    def spread(self, rule: JoinRule, chosen: Sequence[Order]) -> Spread:
        """All orders of a rule, each in both ways, one after the other: who is slow today is slow in both."""
        result = Spread(rule.title, self.timeout)
        data = next((d for d in load(PROGRAMS / rule.program).data if d.name == rule.data), None)
        facts = self.facts.folder(rule.data)
        self.work.mkdir(parents=True, exist_ok=True)
        self._seconds(self._variant(rule, chosen[0]), facts, WAYS["with"], None, result)  # kernels and files get warm
        for number, order in enumerate(chosen, 1):
            program = self._variant(rule, order)
            for way, options in WAYS.items():
                times = [self._seconds(program, facts, options, data, result) for _ in range(self.repeat)]
                done = [seconds for seconds in times if seconds is not None]
                result.seconds[way].append(median(done) if len(done) == len(times) else None)
            shown = ", ".join(f"{way} {_shown(result.seconds[way][-1])}" for way in WAYS)
            print(f"{rule.title} {number}/{len(chosen)} {order}: {shown}", flush=True)
        return result

    def _variant(self, rule: JoinRule, order: Order) -> Path:
        path = self.work / f"{rule.program}-{rule.name}-{'-'.join(map(str, order))}.dl"
        path.write_text(written_in(rule, order), encoding="utf-8")
        return path

    def _seconds(
        self, program: Path, facts: Path, options: Sequence[str], data: DataSet | None, result: Spread
    ) -> float | None:
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        command = [str(self.flintlog), "run", str(program), "-F", str(facts), "-D", str(out), "--quiet"]
        command += ["-j", str(self.threads), "--engine", self.engine, *options]
        finished = measure(command, facts, self.timeout)
        if finished.timed_out:
            return None
        if finished.code != 0:
            raise DefinitionError(f"{program.name} {' '.join(options)} failed: {finished.stderr.strip()}")
        if data is not None:
            result.wrong += [
                f"{program.name} {' '.join(options)}: {w}" for w in wrong_parts(data, finished.stdout, out)
            ]
        return finished.wall


def _shown(seconds: float | None) -> str:
    return "too late" if seconds is None else f"{seconds:.2f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    rules = [rule for rule in RULES if not given.only or any(fnmatchcase(rule.title, glob) for glob in given.only)]
    try:
        if not rules:
            raise DefinitionError(f"no rule matches; there are {', '.join(rule.title for rule in RULES)}")
        facts = Facts(from_environment(given.data), BUILD / "bench-data")
        described = machine.describe(ROOT)  # before anything runs: the load must not be ours
        measurement = Measurement(
            find_flintlog(given.flintlog),
            facts,
            given.engine,
            given.threads,
            given.repeat,
            given.timeout,
            BUILD / "bench-robustness",
        )
        spreads: list[Spread] = []
        for rule in rules:
            spreads.append(measurement.spread(rule, spread(orders(rule.atoms), given.most)))
            if given.out is not None:  # after every rule: a run of all takes half an hour
                everything = {"machine": described, "spreads": [vars(found) for found in spreads]}
                given.out.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    except (NoData, Absent, DefinitionError) as error:
        print(f"benchmarks.robustness: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(f"\n{table(spreads)}\n\nload before the run: {described['load']}, cores: {described['cores']}")
    print(machine.later_changes(str(described["revision"])))
    wrong = [line for found in spreads for line in found.wrong]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.robustness",
        description="Every order of a rule's atoms as the written order, with the optimizer and without it.",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"where the data sets are (default: ${VARIABLE})")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rules to take, as program:rule")
    parser.add_argument("--most", type=int, metavar="N", help="take at most N orders of a rule (default: all)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="timed runs of each (default 1)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="threads (default 2)")
    parser.add_argument("--engine", default="auto", help="flintlog's engine (default auto)")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds for a run (default 600)")
    parser.add_argument("--flintlog", type=Path, metavar="COMMAND", help="the command to measure")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where every time goes")
    return parser


if __name__ == "__main__":
    sys.exit(main())

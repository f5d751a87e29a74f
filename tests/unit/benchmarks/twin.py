"""Holds a benchmark program against its independent twin: on random facts, and in what bench.toml expects."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Set
from pathlib import Path
from typing import Any

from tests.benchmark_data import data_sets
from tests.unit.benchmarks.graph_search import Row

from flintlog import Program, Result

ROOT = Path(__file__).parents[3]
Rows = dict[str, Set[Row]]


class Twin:
    """A program of benchmarks/programs and a function from its facts to every relation whose size it prints."""

    def __init__(self, name: str, derive: Callable[[Rows], Rows]) -> None:
        self.folder = ROOT / "benchmarks" / "programs" / name
        self.derive = derive
        self.text = (self.folder / "program.dl").read_text()
        self.inputs: list[str] = re.findall(r"^\.input (\w+)", self.text, flags=re.MULTILINE)
        self.printed: list[str] = re.findall(r"^\.printsize (\w+)", self.text, flags=re.MULTILINE)
        self.data = tomllib.loads((self.folder / "bench.toml").read_text())["data"]

    def run(self, facts: Rows) -> Result:
        inputs: dict[str, Any] = dict(facts)
        return Program(self.text).run(**inputs)

    def differing(self, facts: Rows) -> set[str]:
        """The relations in which the program's answer is not the twin's."""
        result = self.run(facts)
        expected = self.derive(facts)
        return {name for name in self.printed if set(result[name]) != expected[name]}

    def unreached(self, cases: list[Rows]) -> set[str]:
        """The relations that are empty in all cases: of these, the cases test nothing."""
        derived = [self.derive(facts) for facts in cases]
        return {name for name in self.printed if not any(found[name] for found in derived)}

    def real_facts(self, name: str) -> Rows:
        """The rows of a data set; skips the test where no data is at hand."""
        folder = data_sets().folder(name)
        return {relation: _read(folder / f"{relation}.facts") for relation in self.inputs}


def _read(path: Path) -> set[Row]:
    return {tuple(map(int, line.split("\t"))) for line in path.read_text().splitlines()}

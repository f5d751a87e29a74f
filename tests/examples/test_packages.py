"""The example that `make demo` runs gives the answer that a plain search gives."""

from __future__ import annotations

import csv
import importlib.util
import subprocess
import sys
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "packages"
FLINTLOG = Path(sys.executable).with_name("flintlog")
Rows = set[tuple[Any, ...]]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    spec = importlib.util.spec_from_file_location("make_inputs", EXAMPLE / "make_inputs.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "inputs", 1500)
    return tmp_path / "inputs"


def table(path: Path) -> Rows:
    return {tuple(row.values()) for row in pq.read_table(path).to_pylist()}


def text(path: Path, delimiter: str = "\t") -> Rows:
    rows = csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter=delimiter)
    return {tuple(int(cell) if cell.isdigit() else cell for cell in row) for row in rows}


def expected(inputs: Path) -> dict[str, Rows]:
    """The results, by breadth-first search from every service."""
    edges: dict[str, set[str]] = defaultdict(set)
    for name, on in table(inputs / "depends.parquet"):
        edges[name].add(on)
    steps: dict[str, dict[str, int]] = defaultdict(dict)
    for service, name in text(inputs / "uses.facts"):
        steps[service][name] = 1
    for known in steps.values():
        front = deque(known)
        while front:
            name = front.popleft()
            for on in edges[name] - known.keys():
                known[on] = known[name] + 1
                front.append(on)
    waived = text(inputs / "waived.facts")
    advisories = text(inputs / "advisory.csv", ",") - {("id", "name", "severity")}
    exposed = {
        (service, hole, name, severity, known[name])
        for service, known in steps.items()
        for hole, name, severity in advisories
        if name in known and (service, hole) not in waived
    }
    holes = {service: [row for row in exposed if row[0] == service] for service in steps}
    running = {name for known in steps.values() for name in known}
    idle: dict[str, list[int]] = defaultdict(list)
    for name, licence, downloads in table(inputs / "package.parquet"):
        if name not in running:
            idle[licence].append(downloads)
    return {
        "exposed": exposed,
        "risk": {(s, len(h), max(r[3] for r in h), min(r[4] for r in h)) for s, h in holes.items() if h},
        "safe": {(service,) for service, found in holes.items() if not found},
        "idle": {(licence, len(counts), sum(counts)) for licence, counts in idle.items()},
        "runs": {(service, name) for service, known in steps.items() for name in known},
    }


def check(inputs: Path, *options: str) -> str:
    """Runs the example and compares every result; what was said on stderr."""
    results = inputs.with_name("results")
    command: list[str | Path] = [FLINTLOG, "run", EXAMPLE / "packages.dl", "-F", inputs, "-D", results, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = expected(inputs)
    assert table(results / "exposed.parquet") == answer["exposed"]
    for name in ("risk", "safe", "idle"):
        assert text(results / f"{name}.csv") == answer[name]
    assert done.stdout == f"runs\t{len(answer['runs'])}\n"
    return str(done.stderr)


def test_answer_is_that_of_a_search(inputs: Path):
    check(inputs)


@pytest.mark.slow  # tests/spark/test_cli.py runs a smaller program in a Java of its own
def test_the_pipeline_gives_the_same(inputs: Path):
    assert "engine: spark (a master is given)" in check(inputs, "--master", "local[2]")

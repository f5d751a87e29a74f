"""Who takes part in a measurement, and how each is started. All read the same files and print the same sizes."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.definition import Benchmark

ROOT = Path(__file__).parent.parent
_COMPILE_LIMIT = 600.0  # seconds for Soufflé's C++ compiler


class CannotRun(Exception):
    """This contestant has no version of the program; the message says why."""


class Absent(Exception):
    """This contestant is not installed; the message says what is missing."""


class Contestant(Protocol):
    """`command` is run in the folder with the facts; making it may take time that does not count, for a compiler say.
    It raises CannotRun. `writes_files` says whether output files can be checked too."""

    name: str
    version: str
    writes_files: bool

    def command(self, benchmark: Benchmark, facts: Path, out: Path) -> list[str]: ...


@dataclass
class Flintlog:
    """The command a user types, process start included."""

    executable: Path
    engine: str
    threads: int
    name: str = "flintlog"
    writes_files: bool = True

    def __post_init__(self) -> None:
        self.version = _first_line([str(self.executable), "--version"])

    def command(self, benchmark: Benchmark, facts: Path, out: Path) -> list[str]:
        paths = [str(benchmark.program), "-F", str(facts), "-D", str(out)]
        return [str(self.executable), "run", *paths, "-j", str(self.threads), "--engine", self.engine, "--quiet"]


class DuckDB:
    """The Python package, in a process of its own; the SQL file reads the facts from the current directory."""

    name = "duckdb"
    writes_files = False

    def __init__(self, threads: int) -> None:
        if importlib.util.find_spec("duckdb") is None:
            raise Absent("the package duckdb is not installed here; `make bench` installs it")
        self.version = _first_line([sys.executable, "-c", "import duckdb; print('DuckDB', duckdb.__version__)"])
        self._threads = threads

    def command(self, benchmark: Benchmark, facts: Path, out: Path) -> list[str]:
        if benchmark.sql is None:
            raise CannotRun(benchmark.cannot.get(self.name, "there is no duckdb.sql"))
        script = Path(__file__).with_name("run_sql.py")
        return [sys.executable, str(script), str(benchmark.sql), "--threads", str(self._threads)]


class Souffle:
    """Soufflé's binary from PATH: programs compiled, untimed; interpreted where there is no C++ compiler."""

    name = "souffle"
    writes_files = True

    def __init__(self, threads: int, build: Path) -> None:
        found = shutil.which("souffle")
        if found is None:
            raise Absent("there is no souffle on PATH")
        self._souffle = found
        self._threads = threads
        self._build = build
        self._compiled: dict[str, Path | None] = {}
        version = next(
            (line for line in _output([found, "--version"]).splitlines() if "ersion" in line), "of unknown version"
        )
        self.version = f"Soufflé {version.removeprefix('Version:').strip()}"

    def command(self, benchmark: Benchmark, facts: Path, out: Path) -> list[str]:
        if self.name in benchmark.cannot:
            raise CannotRun(benchmark.cannot[self.name])
        options = ["-F", str(facts), "-D", str(out), "-j", str(self._threads)]
        if benchmark.name not in self._compiled:
            self._compiled[benchmark.name] = self._compile(benchmark)
        binary = self._compiled[benchmark.name]
        return [str(binary), *options] if binary else [self._souffle, *options, str(benchmark.program)]

    def _compile(self, benchmark: Benchmark) -> Path | None:
        self._build.mkdir(parents=True, exist_ok=True)
        binary = self._build / benchmark.name
        command = [self._souffle, "-o", str(binary), "-j", str(self._threads), str(benchmark.program)]
        done = subprocess.run(command, capture_output=True, timeout=_COMPILE_LIMIT, check=False)
        if done.returncode == 0 and binary.is_file():
            return binary
        print(f"souffle cannot compile {benchmark.name} here: its interpreter is measured", file=sys.stderr)
        return None


def rivals(names: Sequence[str], threads: int, build: Path) -> tuple[list[Contestant], dict[str, str]]:
    """The rivals that can take part, and for each of the others the reason why not."""
    present: list[Contestant] = []
    absent: dict[str, str] = {}
    for name in names:
        try:
            present.append(DuckDB(threads) if name == "duckdb" else Souffle(threads, build))
        except Absent as reason:
            absent[name] = str(reason)
    return present, absent


def find_flintlog(given: Path | None) -> Path:
    """The command to measure: the one given, else this environment's, the checkout's, or PATH's. Raises Absent."""
    if given is not None:
        if not given.is_file():
            raise Absent(f"there is no {given}")
        return given.resolve()
    on_path = shutil.which("flintlog")
    candidates = [Path(sys.executable).with_name("flintlog"), ROOT / ".venv/bin/flintlog", Path(on_path or "flintlog")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.absolute()
    raise Absent("there is no flintlog: run `make`, or say --flintlog COMMAND")


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _first_line(command: list[str]) -> str:
    return (_output(command).splitlines() or ["unknown version"])[0]

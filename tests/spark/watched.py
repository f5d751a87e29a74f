"""A run of the command line on a cluster, watched from outside: what it has said so far, what its processes do."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.spark.clusters import Cluster, driver
from tests.spark.processes import Process, executors, python_workers

COMMAND = [sys.executable, "-c", "import sys; from flintlog.cli.main import main; sys.exit(main())"]
PATIENCE = 300.0  # seconds for anything that is waited for, on a busy machine


@dataclass
class Watched:
    """`folder` gets the run's results (`out/`) and all that it says."""

    process: subprocess.Popen[str]
    folder: Path
    sessions: tuple[int, ...]

    @property
    def said(self) -> str:
        """Standard error so far: notes, progress, errors."""
        return (self.folder / "stderr").read_text(errors="replace")

    @property
    def spark_said(self) -> str:
        return (self.folder / "spark.log").read_text(errors="replace")

    @property
    def round(self) -> int:
        """The highest round that was reported."""
        return max((int(number) for number in re.findall(r"round (\d+)", self.said)), default=0)

    def executors(self) -> list[Process]:
        return executors([*self.sessions])

    def python_workers(self) -> list[Process]:
        return python_workers([*self.sessions])

    def until(self, happens: Callable[[], object], what: str) -> None:
        """Waits for something, as long as the run goes on."""
        deadline = time.monotonic() + PATIENCE
        while not happens():
            assert self.process.poll() is None, f"the run ended before {what}:\n{self.said}"
            assert time.monotonic() < deadline, f"waited in vain until {what}:\n{self.said}"
            time.sleep(0.05)

    def end(self) -> int:
        """Waits for the end of the run; its exit code."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the run does not end:\n{self.said}\n{self.spark_said[-4000:]}") from None

    def rows(self, relation: str) -> set[tuple[int, ...]]:
        """The rows of numbers that the run has written, each of which must be there once."""
        lines = (self.folder / "out" / f"{relation}.csv").read_text().splitlines()
        rows = {tuple(map(int, line.split("\t"))) for line in lines}
        assert len(rows) == len(lines)
        return rows


@contextmanager
def watched(
    cluster: Cluster, program: str, folder: Path, options: Sequence[str], settings: Mapping[str, str] | None = None
) -> Iterator[Watched]:
    """Starts a program, given as text, on a cluster, maybe with settings of Spark's. What is left of it at the end of
    the block is killed."""
    (folder / "out").mkdir(parents=True)
    (folder / "program.dl").write_text(program)
    command = [*COMMAND, "run", str(folder / "program.dl"), "-D", str(folder / "out"), "--progress"]
    command += ["--engine", "spark", "--master", cluster.master, *options]
    if settings:
        said = " ".join(f"--conf {key}={value}" for key, value in settings.items())
        cluster = replace(cluster, environment={**cluster.environment, "PYSPARK_SUBMIT_ARGS": f"{said} pyspark-shell"})
    with driver(cluster, command, folder / "stderr", spark_log=folder / "spark.log") as process:
        yield Watched(process, folder, (process.pid, *cluster.sessions))

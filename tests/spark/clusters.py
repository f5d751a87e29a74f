"""Clusters of real processes on this machine, started for a test and stopped after it, whatever happens.

A process has one Spark context, so what is to run on a cluster runs in a driver process of its own.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyspark
from pyspark.find_spark_home import _find_spark_home
from tests.spark.processes import end_session

from flintlog.engines.spark.sessions.gateway import LOG_VARIABLE
from flintlog.engines.spark.sessions.java import java_home

ROOT = Path(__file__).parents[2]
# The variable that tells the tests of this room on which master their session is to be.
MASTER = "FLINTLOG_TEST_MASTER"
LOCAL_CLUSTER = "local-cluster[2,1,1024]"
# Processes of tests are over before a second compilation would pay.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PATIENCE = 120.0  # seconds for a process to start, on a busy machine

T = TypeVar("T")


@dataclass(frozen=True)
class Cluster:
    """A master that answers. `environment` is for the driver's process; `sessions` are those of the cluster's own
    processes, executors included where these are not children of the driver."""

    master: str
    environment: Mapping[str, str]
    sessions: tuple[int, ...] = ()


@contextmanager
def local_cluster(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Two executors with a slot each, which the driver starts and takes with it."""
    yield Cluster(LOCAL_CLUSTER, _environment(folder, settings or {}))


@contextmanager
def standalone(folder: Path, settings: Mapping[str, str] | None = None, workers: int = 2) -> Iterator[Cluster]:
    """A master and some workers, each with a slot and the memory for one executor. A lost executor comes back."""
    environment = _environment(folder, settings or {})
    with ExitStack() as stack:

        def start(name: str, *arguments: str) -> tuple[int, Path]:
            log = folder / f"{name}.log"
            return stack.enter_context(_daemon(arguments, environment, log)), log

        here = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        session, log = start("master", "org.apache.spark.deploy.master.Master", *here)
        sessions = [session]
        master = _until(lambda: _found(r"Starting Spark master at (spark://\S+)", log), log)
        page = _until(lambda: _found(r"Bound MasterWebUI .*started at (http://\S+)", log), log)
        for number in range(workers):
            own = ("-c", "1", "-m", "2g", "-d", str(folder / f"worker-{number}"))
            session, log = start(f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *here, *own, master)
            sessions.append(session)
        _until(lambda: _alive_workers(page) == workers, log)
        yield Cluster(master, environment, tuple(sessions))


CLUSTERS = {"local-cluster": local_cluster, "standalone": standalone}


@contextmanager
def driver(
    cluster: Cluster, command: Sequence[str], log: Path, spark_log: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process that uses a cluster, standard output to be read, standard error in `log`, and in `spark_log` what Java
    says. It ends with the block, and so does everything that it has started."""
    environment = {**os.environ, **cluster.environment, MASTER: cluster.master}
    if spark_log is not None:
        environment[LOG_VARIABLE] = str(spark_log)
    with log.open("a") as stream:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stream, text=True, start_new_session=True
        )
    try:
        yield process
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)  # for its session to stop in good order
    finally:
        _end(process)


def run_tests(cluster: Cluster, arguments: Sequence[str], folder: Path, seconds: float) -> str:
    """What pytest says about some tests whose session is on the cluster. An AssertionError with it if they fail, or
    are not done in time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    log = folder / "driver.log"
    with driver(cluster, command, log) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            _end(process)
            said = str(late.output or b"", errors="replace") if isinstance(late.output, bytes) else str(late.output)
            raise AssertionError(f"not done after {seconds:.0f} s:\n{said}\n{_tail(log)}") from None
    assert process.returncode == 0, f"{said}\n{_tail(log)}"
    return said


def _environment(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Variables for the processes of a cluster and for its drivers."""
    home = _home(folder)
    defaults = {
        "spark.executor.memory": "1g",
        "spark.executor.extraJavaOptions": JAVA_OPTIONS,
        "spark.ui.enabled": "false",
        "spark.log.level": "WARN",
        "spark.local.dir": str(folder / "scratch"),
        **settings,
    }
    lines = [f"{key} {value}\n" for key, value in defaults.items()]
    (home / "conf" / "spark-defaults.conf").write_text("".join(lines))
    return {
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(home / "conf"),
        "JAVA_HOME": str(java_home(pyspark.__version__)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
        "SPARK_DRIVER_MEMORY": "1g",
        "SPARK_SUBMIT_OPTS": JAVA_OPTIONS,
        LOG_VARIABLE: str(folder / "spark.log"),
    }


def _home(folder: Path) -> Path:
    """A SPARK_HOME of our own, all links: executors of a local cluster work in its folder `work`, which would otherwise
    grow among the installed packages."""
    home = folder / "spark"
    (home / "conf").mkdir(parents=True, exist_ok=True)
    for entry in ("bin", "jars", "python"):
        with suppress(FileExistsError):
            (home / entry).symlink_to(Path(_find_spark_home()) / entry)
    return home


@contextmanager
def _daemon(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Iterator[int]:
    """One of Spark's own processes, with the number of its session."""
    command = [f"{environment['SPARK_HOME']}/bin/spark-class", *arguments]
    with log.open("w") as stream:
        process = subprocess.Popen(
            command,
            cwd=log.parent,
            env={**os.environ, **environment},
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        _end(process)


def _end(process: subprocess.Popen) -> None:
    """Ends a process politely, then all of its session by force."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
    end_session(process.pid)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _until(ask: Callable[[], T | None], log: Path) -> T:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := ask():
            return answer
        time.sleep(0.1)
    raise AssertionError(f"a cluster does not start:\n{_tail(log)}")


def _found(pattern: str, log: Path) -> str | None:
    found = re.search(pattern, log.read_text(errors="replace"))
    return found[1] if found else None


def _alive_workers(page: str) -> int:
    with urllib.request.urlopen(f"{page}/json/", timeout=10) as answer:
        return sum(worker["state"] == "ALIVE" for worker in json.load(answer)["workers"])


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-6000:] if log.exists() else ""

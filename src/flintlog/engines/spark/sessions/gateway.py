"""Starts the Java process of a session that is made here, and keeps what it prints in a log file."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import IO

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.memory import total_memory
from flintlog.engines.spark.sessions.java import java_home
from flintlog.engines.spark.sessions.masters import is_local

LOG_VARIABLE = "FLINTLOG_SPARK_LOG"

# Java's best compiler waits until code is really hot: a third less work for the processors until a first job is done,
# and no more afterwards, since what takes long in Spark is either hot or outside of Java.
QUICK_START = """
-XX:+IgnoreUnrecognizedVMOptions
-XX:Tier4InvocationThreshold=30000 -XX:Tier4MinInvocationThreshold=10000 -XX:Tier4CompileThreshold=60000
"""
# Up to this much memory, in MiB, one thread collects garbage with less effort than several.
SMALL_HEAP = 4 << 10


def start_java(master: str | None) -> None:
    """Starts Java, which reads the user's configuration, unless it runs already (spark-submit, an earlier session)."""
    import pyspark
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return
    for settings in _attempts(master, pyspark.__version__):
        try:
            # Standard output is for results.
            with _log() as log, environment(settings):
                SparkContext._ensure_initialized(gateway=launch_gateway(popen_kwargs={"stdout": log, "stderr": log}))
            return
        except (PySparkRuntimeError, OSError) as error:
            failure = error
    raise FlintlogError([Diagnostic("E921", "Spark's Java does not start", note=log_note())]) from failure


def _attempts(master: str | None, version: str) -> Iterator[dict[str, str]]:
    """Variables to start Java with, the best first."""
    settings = {"JAVA_HOME": str(java_home(version))}
    if master is not None and not is_local(master):
        yield settings
        return
    heap = max(1 << 10, min(total_memory() >> 22, 16 << 10))  # a quarter of the machine's, in MiB
    settings |= _python_path()
    # What the host's name resolves to is of no interest to one process, and often wrong on laptops.
    settings["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    settings["SPARK_DRIVER_MEMORY"] = os.environ.get("SPARK_DRIVER_MEMORY", f"{heap}m")
    if "SPARK_SUBMIT_OPTS" not in os.environ:
        collector = "-XX:+UseSerialGC" if heap <= SMALL_HEAP else ""
        yield settings | {"SPARK_SUBMIT_OPTS": " ".join([*QUICK_START.split(), collector])}
    yield settings  # with options of the user's own, those were perhaps too many


def log_note() -> str | None:
    """Where to read on when Spark has failed. The file stays from now on."""
    _Log.named = True
    return f"Spark's log is {_Log.path}" if _Log.path is not None else None


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """The block runs with these variables, for the processes that it starts; the caller's are then as before."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Log:
    path: Path | None = None
    named = False


def _log() -> IO[bytes]:
    """Where Java's messages go. A file of our own goes with the process, unless it has been named to the user."""
    wanted = os.environ.get(LOG_VARIABLE)
    if wanted:
        _Log.path, _Log.named = Path(wanted), True
        return _Log.path.open("ab")
    if _Log.path is None:
        handle, name = mkstemp(prefix="flintlog-spark-", suffix=".log")
        os.close(handle)
        _Log.path = Path(name)
        atexit.register(_remove, os.getpid())
    return _Log.path.open("ab")


def _remove(process: int) -> None:
    if process == os.getpid() and _Log.path is not None and not _Log.named:
        _Log.path.unlink(missing_ok=True)


def _python_path() -> dict[str, str]:
    """Tasks here find this package where this process found it, be that a directory that is not installed."""
    folder = Path(__file__).parents[4]
    if folder.name in ("site-packages", "dist-packages"):
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))}

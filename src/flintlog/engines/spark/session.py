"""The session that a run works with: the caller's, the active one, or one made for it.

A session that was found is used as it is. One that is made here takes everything the user has configured (in
`spark-defaults.conf`, in PYSPARK_SUBMIT_ARGS, with spark-submit) and adds only what the user said nothing about.
"""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.gateway import environment, log_note, start_java
from flintlog.engines.spark.masters import check_master, is_local, is_on_this_machine, slots
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

# Rows of an Arrow batch. Spark's own 10,000 makes a partition of every 10,000 rows that Python hands over.
ARROW_ROWS = 1 << 18


def open_session(options: SparkOptions, name: str) -> tuple[SparkSession, bool]:
    """The session for a run called `name`, and whether it was made here. FlintlogError where there can be none.

    Nobody but `end_session` stops a session that was made here: results are computed when they are looked at.
    """
    require_packages()
    found = options.session if options.session is not None else _found(options.master)
    if found is not None:
        return found, found is _Made.session
    master = options.master
    if master is not None:
        check_master(master)
    if master is not None and master.startswith("sc://"):
        session = _connected(master)
    else:
        session = _started(master, name)
    _Made.session = session
    return session, True


def end_session() -> None:
    """Stops the session that `open_session` made, if there is one."""
    session, _Made.session = _Made.session, None
    if session is None:
        return
    try:
        session.stop()
    except Exception:
        # What is left of a session whose Java has died.
        logging.getLogger(__name__).debug("a session did not stop", exc_info=True)
    if _Made.interrupts is not None and _in_main_thread():
        signal.signal(signal.SIGINT, _Made.interrupts)  # Spark's handler would cancel jobs of a session that has gone


@contextmanager
def interruptible(session: SparkSession, group: str, description: str) -> Iterator[None]:
    """Jobs of the block are one group of Spark's. If the block is interrupted or fails, those that still run are
    cancelled, and their tasks stopped."""
    if is_connect(session):
        session.addTag(group)
        try:
            yield
        except BaseException:
            session.interruptTag(group)
            raise
        finally:
            session.removeTag(group)
        return
    context = session.sparkContext
    before = {key: context.getLocalProperty(key) for key in _GROUP_PROPERTIES}
    context.setJobGroup(group, description, interruptOnCancel=True)
    try:
        yield
    except BaseException:
        context.cancelJobGroup(group)
        raise
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type] # None takes it away


def is_connect(session: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect: there is no context, no RDD and no Java then."""
    return type(session).__module__.startswith("pyspark.sql.connect")


_GROUP_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


class _Made:
    """The session that was made here (Spark has one to a process), and what an interrupt did before."""

    session: SparkSession | None = None
    interrupts: Any = None


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def require_packages() -> None:
    """Raises, in one line, what has to be installed before there can be a session."""
    missing = [package for package in ("pyspark", "pandas") if find_spec(package) is None]
    if missing:
        message = f"the engine `spark` needs {' and '.join(missing)}"
        raise FlintlogError([Diagnostic("E920", message, note="pip install 'flintlog[spark]'")])


def _found(master: str | None) -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session: SparkSession | None = SparkSession.getActiveSession()
    if session is None and SparkContext._active_spark_context is not None:
        session = SparkSession.builder.getOrCreate()  # another thread's, or there is no more than a context so far
    if session is not None and master is not None and not is_connect(session):
        known = session.sparkContext.master
        if known != master:
            message = f"there is a session on `{known}`, and Spark has only one to a process"
            note = f"stop it to run on `{master}`, or leave the master out"
            raise FlintlogError([Diagnostic("E924", message, note=note)])
    return session


def _connected(url: str) -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.remote(url).getOrCreate()
        session.range(1).count()  # the first thing that goes to the server
    except ImportError as error:
        note = "pip install 'pyspark[connect]'"
        raise FlintlogError([Diagnostic("E920", f"Spark Connect needs more packages: {error}", note=note)]) from error
    except Exception as error:
        raise _refused(url, error) from error
    return session


def _started(master: str | None, name: str) -> SparkSession:
    from pyspark.sql import SparkSession

    if _in_main_thread():
        _Made.interrupts = signal.getsignal(signal.SIGINT)
    # Without any handler, py4j's complaints about a connection that ended would go to the terminal.
    logging.getLogger("py4j").addHandler(logging.NullHandler())
    start_java(master)
    conf = _configuration(master, name)
    chosen = conf.get("spark.master", "")
    with environment({"PYSPARK_PYTHON": sys.executable} if is_on_this_machine(chosen) else {}):
        try:
            return SparkSession.builder.config(conf=conf).getOrCreate()
        except Exception as error:
            raise _refused(chosen, error) from error


def _configuration(master: str | None, name: str) -> SparkConf:
    """What the user configured, and defaults for the rest."""
    from pyspark import SparkConf

    conf = SparkConf()
    if master is not None:
        conf.setMaster(master)
    conf.setIfMissing("spark.master", "local[*]")
    conf.setIfMissing("spark.app.name", name)
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.sql.execution.arrow.maxRecordsPerBatch", str(ARROW_ROWS))
    chosen = conf.get("spark.master", "")
    if is_on_this_machine(chosen):
        conf.setIfMissing("spark.driver.host", "127.0.0.1")
        conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1")
    if is_local(chosen):
        if not conf.contains("spark.ui.port"):
            conf.setIfMissing("spark.ui.enabled", "false")
        conf.setIfMissing("spark.sql.shuffle.partitions", str(slots(chosen)))
    return conf


def _refused(master: str, error: Exception) -> FlintlogError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    cause = next((line for line in lines if "Exception: " in line), lines[0])
    return FlintlogError([Diagnostic("E923", f"Spark gives no session on `{master}`: {cause}", note=log_note())])

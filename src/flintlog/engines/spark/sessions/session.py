"""The session that a run works with: the caller's, the active one, or one made for it.

A session that was found is used as it is. One that is made here takes everything the user has configured (in
`spark-defaults.conf`, in PYSPARK_SUBMIT_ARGS, with spark-submit) and adds only what the user said nothing about.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.sessions.gateway import environment, log_note, start_java
from flintlog.engines.spark.sessions.interrupts import Interrupts, said_apart
from flintlog.engines.spark.sessions.masters import check_master, is_connect, is_local, is_on_this_machine, slots
from flintlog.engines.spark.sessions.ship import ship
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

# How long executors are waited for, and for how long their number must stay, in seconds.
PATIENCE, SETTLED = 20.0, 0.5

# Rows of an Arrow batch. Spark's own 10,000 makes a partition of every 10,000 rows that Python hands over.
ARROW_ROWS = 1 << 18


def open_session(
    options: SparkOptions, name: str, say: Callable[[str], None] = lambda text: None
) -> tuple[SparkSession, bool]:
    """The session for a run called `name`, with this package in its tasks, and whether it was made here. FlintlogError
    where there can be none. `say` gets what a user who has to wait should know.

    Nobody but `end_session` stops a session that was made here: results are computed when they are looked at.
    """
    require_packages()
    session = options.session if options.session is not None else _found()
    if session is not None:
        _require_fit(session, options.master)
    else:
        session = _Made.session = _made(options.master, name)
        _await_executors(session, say)
    ship(session)
    return session, session is _Made.session


def before_end(action: Callable[[], None]) -> None:
    """Has something done before `end_session` stops a session: results that nobody will look at any more are given
    back."""
    _Made.actions.append(action)


def end_session() -> None:
    """Stops the session that `open_session` made, if there is one."""
    actions, _Made.actions = _Made.actions, []
    for action in actions:
        try:
            action()
        except Exception:
            logging.getLogger(__name__).debug("a result was not given back", exc_info=True)
    session, _Made.session = _Made.session, None
    interrupts, _Made.interrupts = _Made.interrupts, None
    if session is not None:
        said_apart(session.stop)
    if interrupts is not None:
        interrupts.restore()


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
    heard = _Made.interrupts.heard if _Made.interrupts is not None else 0
    try:
        yield
    except BaseException as error:
        said_apart(lambda: context.cancelJobGroup(group))
        if _Made.interrupts is not None and _Made.interrupts.heard > heard:
            raise KeyboardInterrupt from error  # whatever else became of it on the way
        if not isinstance(error, KeyboardInterrupt):  # else the connection may have gone, and the properties with it
            _set_properties(context, before)
        raise
    else:
        _set_properties(context, before)


_GROUP_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


class _Made:
    """The session that was made here (Spark has one to a process), and what interrupts do meanwhile."""

    session: SparkSession | None = None
    interrupts: Interrupts | None = None
    actions: ClassVar[list[Callable[[], None]]] = []


def _set_properties(context: SparkContext, properties: Mapping[str, str | None]) -> None:
    for key, value in properties.items():
        context.setLocalProperty(key, value)  # type: ignore[arg-type] # None takes it away


def require_packages() -> None:
    """Raises, in one line, what has to be installed before there can be a session."""
    missing = [package for package in ("pyspark", "pandas") if find_spec(package) is None]
    if missing:
        message = f"the engine `spark` needs {' and '.join(missing)}"
        raise FlintlogError([Diagnostic("E920", message, note="pip install 'flintlog[spark]'")])


def _found() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session: SparkSession | None = SparkSession.getActiveSession()
    if session is None and SparkContext._active_spark_context is not None:
        session = SparkSession.builder.getOrCreate()  # another thread's, or there is no more than a context so far
    return session


def _require_fit(session: SparkSession, master: str | None) -> None:
    """Raises for a session that has been stopped, or is on another master than the one that was asked for."""
    if is_connect(session):
        return
    context = session.sparkContext
    if context._jsc is None:
        raise FlintlogError([Diagnostic("E923", "the session has been stopped", note="make another one")])
    if master is not None and context.master != master:
        message = f"there is a session on `{context.master}`, and Spark has only one to a process"
        note = f"stop it to run on `{master}`, or leave the master out"
        raise FlintlogError([Diagnostic("E924", message, note=note)])


def _made(master: str | None, name: str) -> SparkSession:
    if master is not None:
        check_master(master)
        if master.startswith("sc://"):
            return _connected(master)
    return _started(master, name)


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

    interrupts = Interrupts.as_they_are()
    # Without any handler, py4j's complaints about a connection that ended would go to the terminal.
    logging.getLogger("py4j").addHandler(logging.NullHandler())
    start_java(master)
    conf = _configuration(master, name)
    chosen = conf.get("spark.master", "")
    with environment({"PYSPARK_PYTHON": sys.executable} if is_on_this_machine(chosen) else {}):
        try:
            session = SparkSession.builder.config(conf=conf).getOrCreate()
        except Exception as error:
            interrupts.restore()
            raise _refused(chosen, error) from error
    interrupts.cancel_with(session.sparkContext.cancelAllJobs)
    _Made.interrupts = interrupts
    return session


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


def _await_executors(session: SparkSession, say: Callable[[str], None]) -> None:
    """A cluster's executors come one by one: until the first is there nobody knows how many slots there are, and if
    none comes, jobs wait for ever without a word."""
    if is_connect(session) or is_local(session.sparkContext.master or ""):
        return
    context = session.sparkContext
    if (context.getConf().get("spark.dynamicAllocation.enabled") or "false") == "true":
        return  # they come when there is work
    started, known, since = time.monotonic(), 0, 0.0
    while (now := time.monotonic()) - started < PATIENCE:
        count = _executors(context)
        if count != known:
            known, since = count, now
        elif known and now - since > SETTLED:
            return
        time.sleep(0.1)
    if not known:
        say(f"{context.master} has given no executor yet: are there workers with free cores and memory?")


def slots_now(session: SparkSession) -> int:
    """How many tasks can run at once, on the executors that there are."""
    if is_connect(session):
        return int(session.conf.get("spark.default.parallelism", None) or 2)
    from py4j.protocol import Py4JError

    context = session.sparkContext
    try:
        spark = context._jsc.sc()  # what a stage of tasks that must run at once is measured by
        return max(1, int(spark.maxNumConcurrentTasks(spark.resourceProfileManager().defaultResourceProfile())))
    except (AttributeError, Py4JError):
        return int(context.defaultParallelism)


def await_slots(session: SparkSession, count: int) -> None:
    """Waits for executors that take the place of lost ones, as long as for the first."""
    started = time.monotonic()
    while slots_now(session) < count and time.monotonic() - started < PATIENCE:
        time.sleep(0.1)


def _executors(context: SparkContext) -> int:
    """How many there are beside the driver."""
    count: int = context._jsc.sc().getExecutorMemoryStatus().size()
    return count - 1


def _refused(master: str, error: Exception) -> FlintlogError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    cause = next((line for line in lines if "Exception: " in line), lines[0]).lstrip(": ")
    return FlintlogError([Diagnostic("E923", f"Spark gives no session on `{master}`: {cause}", note=log_note())])

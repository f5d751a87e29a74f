"""What went wrong in Spark, said in the program's terms: which stratum, what happened, what to change."""

from __future__ import annotations

import logging
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from flintlog.diagnostics import Diagnostic, FlintlogError

# How the end of a task for want of memory looks in Spark's messages.
_MEMORY = re.compile(
    r"OutOfMemoryError|Cannot allocate memory|MemoryError|ArrowMemoryError|exceeding .*memory limits"
    r"|exit (code|status):? 137|Exit code(?: is)? 137|OOM ?killed|Python worker exited unexpectedly",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND|Checkpoint block .* not found|checkpoint.*(FileNotFound|does not exist)"
    r"|FileNotFoundException.*(checkpoint|rdd-)",
    re.IGNORECASE | re.DOTALL,
)
_SLOTS = re.compile(r"SPARK-24819|barrier execution mode.*slots", re.IGNORECASE | re.DOTALL)
_REMEDIES = {
    "single": "more memory for a task, or --strategy dataframe, which spills to disk",
    "decomposed": "more memory for a task, more --partitions, or --strategy dataframe, which spills to disk",
    "resident": "more executors, more memory for each, or --strategy dataframe, which spills to disk",
    "dataframe": "more memory for executors (spark.executor.memory) or more --partitions",
    "results": "more memory for executors (spark.executor.memory)",
}


def wants_slots(error: BaseException) -> bool:
    """Whether tasks could not begin because they have to run at once, and there are too few slots."""
    return _SLOTS.search(str(error)) is not None


@contextmanager
def explained(strata: str, strategy: str) -> Iterator[None]:
    """Turns Spark's exceptions, and a task's want of memory, into an error that names the strata."""
    try:
        yield
    except FlintlogError as error:
        raise FlintlogError([_named(d, strata, strategy) for d in error.diagnostics]) from None
    except pickle.PicklingError as error:
        message = f"{strata} ({strategy}): something cannot travel to a task: {_first_line(str(error))}"
        note = "a functor must not hold a lock, an open file or a connection: make these when it is called"
        raise FlintlogError([Diagnostic("E934", message, note=note)]) from error
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        logging.getLogger(__name__).debug("Spark failed", exc_info=True)
        raise FlintlogError([_diagnosis(str(error), strata, strategy)]) from error


def _named(diagnostic: Diagnostic, strata: str, strategy: str) -> Diagnostic:
    if diagnostic.code not in ("E803", "E933") or diagnostic.message.startswith(f"{strata} ("):
        return diagnostic
    note = _REMEDIES[strategy] if diagnostic.code == "E803" else diagnostic.note
    return replace(diagnostic, message=f"{strata} ({strategy}): {diagnostic.message}", note=note)


def _diagnosis(text: str, strata: str, strategy: str) -> Diagnostic:
    if _LOST.search(text):
        message = f"{strata} ({strategy}): rows have gone that an executor, or a checkpoint, had kept"
        return Diagnostic("E933", message, note="run it again; --checkpoint-dir names a place that outlives executors")
    if _SLOTS.search(text):
        message = f"{strata} ({strategy}): the cluster has fewer slots than the stratum has tasks"
        note = "if executors were lost, run it again; otherwise fewer --partitions, or another --strategy"
        return Diagnostic("E932", message, note=note)
    if _MEMORY.search(text):
        return Diagnostic(
            "E803",
            f"{strata} ({strategy}): a task ran out of memory",
            note=_REMEDIES[strategy],
        )
    if (missing := re.search(r"ModuleNotFoundError: (No module named '[\w.]+')", text)) is not None:
        message = f"{strata} ({strategy}): the Python of the tasks lacks a package: {missing[1]}"
        note = f"let PYSPARK_PYTHON name a Python that has it, before the session is made; this one is {sys.executable}"
        return Diagnostic("E935", message, note=note)
    return Diagnostic("E930", f"{strata} ({strategy}): Spark failed: {_first_line(text)}", note=_cause(text))


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "without a word")[:300]


def _cause(text: str) -> str | None:
    """The last word of a Python traceback, or of Java's, in Spark's message, where there is one."""
    names = r"(?:\w+\.)*\w*(?:Error|Exception|Lost|Gone|Missing)"
    found = re.findall(rf"^[:\s]*((?:Caused by: )?{names}\b: .*)$", text, re.MULTILINE)
    return found[-1][:300] if found else None

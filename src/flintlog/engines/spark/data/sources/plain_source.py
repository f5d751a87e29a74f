"""What an `.input` directive asks Spark to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data.plain import NULLARY
from flintlog.io.schema import Schema
from flintlog.ir.program import Relation
from flintlog.source import NOWHERE, Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Source:
    """`bad_records` is "refuse", or the directory where records that do not fit are written aside. `notify` gets
    warnings."""

    spark: SparkSession
    relation: Relation
    schema: Schema
    params: Mapping[str, str]
    facts_dir: Path | str
    bad_records: str = "refuse"
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None
    span: Span = NOWHERE

    @property
    def names(self) -> list[str]:
        """The columns of the plain frame."""
        return [column.name for column in self.schema.columns] or [NULLARY]

    @property
    def refuses(self) -> bool:
        return self.bad_records == "refuse"

    def unopened(self, name: str, error: Exception) -> FlintlogError:
        """What to say where there is nothing at an address."""
        if "PATH_NOT_FOUND" not in str(error):
            return self.unreadable(error)
        message = f"cannot open `{name}`, the facts of `{self.relation.name}`: No such file or directory"
        return FlintlogError([Diagnostic("E701", message, self.span, "check the address")])

    def unreadable(self, error: Exception) -> FlintlogError:
        """What to say where Spark cannot read."""
        message = f"Spark cannot read the facts of `{self.relation.name}`: {cause_of(error)}"
        return FlintlogError([Diagnostic("E714", message, self.span, _remedy(str(error)))])


def spark_errors() -> tuple[type[Exception], ...]:
    """What pyspark raises where a job, or the planning of one, fails."""
    from pyspark.errors import PySparkException

    # Without type information, and not needed by clients of Spark Connect.
    java: type[Exception] = import_module("py4j.protocol").Py4JError
    return PySparkException, java


def cause_of(error: Exception) -> str:
    """The line of a long message that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    inner = [line for line in lines[1:] if "Exception: " in line and not line.startswith("at ")]
    return (causes or inner or lines)[-1 if causes else 0].lstrip(": ")[:300]


def _remedy(text: str) -> str:
    if "ClassNotFound" in text or "No suitable driver" in text or "DATA_SOURCE_NOT_FOUND" in text:
        return "put the jar of the driver or format on Spark's class path: --jars, spark.jars or spark.jars.packages"
    if "TABLE_OR_VIEW_NOT_FOUND" in text:
        return 'name the table as the catalog does: table="catalog.database.table"'
    if "FileNotFound" in text or "PATH_NOT_FOUND" in text:
        return "every executor must be able to read it: put it on storage that all of them share"
    return "check the parameters of the directive, and that the executors may read it"

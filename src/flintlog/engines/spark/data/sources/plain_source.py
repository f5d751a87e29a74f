"""The source of an `.input` directive that Spark reads, and the diagnostics for one that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data.plain import NULLARY, plain_ddl
from flintlog.engines.spark.data.sources.notes import NOTE
from flintlog.io.schema import Schema
from flintlog.ir.program import Relation
from flintlog.source import NOWHERE, Span

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Source:
    """`bad_records` is "refuse", or the directory to which records that do not fit are written. `notify` gets
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

    @property
    def noted_ddl(self) -> str:
        """The columns c0, c1, … of the plain frame and the column of notes."""
        return f"{plain_ddl(self.schema.kinds())}, {NOTE} string"

    def opened(self, load: Callable[[], DataFrame], address: str | None = None) -> DataFrame:
        """The frame that `load` makes. FlintlogError if Spark cannot read it, which is found without a job. `address`
        is for a message that there is nothing."""
        try:
            frame = load()
            frame.schema  # noqa: B018 # a client of Spark Connect asks the server only now
        except spark_errors() as error:
            if address is None or "PATH_NOT_FOUND" not in str(error):
                raise self.unreadable(error) from error
            message = f"cannot open `{address}`, the facts of `{self.relation.name}`: No such file or directory"
            raise FlintlogError([Diagnostic("E701", message, self.span, "check the address")]) from error
        return frame

    def unreadable(self, error: Exception) -> FlintlogError:
        """The error for a source that Spark cannot read."""
        message = f"Spark cannot read the facts of `{self.relation.name}`: {cause_of(error)}"
        return FlintlogError([Diagnostic("E714", message, self.span, _remedy(str(error)))])


def spark_errors() -> tuple[type[Exception], ...]:
    """The exceptions that pyspark raises if a job, or the planning of one, fails."""
    from pyspark.errors import PySparkException

    # Without type information, and not needed by clients of Spark Connect.
    java: type[Exception] = import_module("py4j.protocol").Py4JError
    return PySparkException, java


def cause_of(error: Exception) -> str:
    """The one line of Spark's long message that names the cause."""
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

"""Results that Spark writes: Parquet, ORC, JSON lines, catalog tables, databases, all other formats of Spark, and text
at addresses that only Spark can reach. All other results are single files, which the driver writes as every engine
does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data.locations import address_below, address_of, is_address, not_shared
from flintlog.engines.spark.data.plain import by_position
from flintlog.engines.spark.data.sink_tasks import delimited_lines, json_lines, json_text
from flintlog.engines.spark.data.sources.plain_source import cause_of, spark_errors
from flintlog.engines.spark.data.sources.table_source import jdbc_options, options_of, required, table_name
from flintlog.io.parameters import dialect, header, is_true, relation_name, require_columns, unknown_format
from flintlog.io.schema import Schema
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import TypeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_sink(
    spark: SparkSession,
    relation: Relation,
    plain: DataFrame,
    directive: IoDirective,
    output_dir: Path | str,
    types: TypeTable,
    word_size: int = 64,
) -> bool:
    """Has Spark write a plain frame as an `.output` directive says, and returns True; returns False if the driver has
    to write a single file. FlintlogError if the frame cannot be written."""
    params = dict(directive.params)
    kind = params.get("IO", "file")
    if directive.kind != "output" or str(output_dir) == "-":
        return False
    schema = Schema(relation_name(relation.name, params), relation.columns, types, word_size)
    sink = _Sink(relation, schema, plain, params, output_dir, directive)
    if kind in _BY_SPARK:
        require_columns(relation.columns, relation.name, "what Spark writes", directive.span)
        _BY_SPARK[kind](sink)
        return True
    if kind not in _ONE_FILE:
        raise unknown_format(kind, "output", [*_ONE_FILE, *_BY_SPARK], directive.span)
    write = _ONE_FILE[kind]
    if write is None or not sink.is_elsewhere:
        return False
    write(sink)
    return True


@dataclass(frozen=True)
class _Sink:
    relation: Relation
    schema: Schema
    plain: DataFrame
    params: dict[str, str]
    output_dir: Path | str
    directive: IoDirective

    def target(self, suffix: str) -> str:
        name = self.params.get("filename", self.schema.name + suffix)
        return address_below(self.output_dir, name) if self.is_elsewhere else str(self.local(suffix))

    @property
    def is_elsewhere(self) -> bool:
        return is_address(self.output_dir) or is_address(self.params.get("filename", ""))

    def local(self, suffix: str) -> Path:
        return Path(self.output_dir) / self.params.get("filename", self.schema.name + suffix)

    def save(self, frame: DataFrame, kind: str, suffix: str, options: dict[str, str] | None = None) -> None:
        """Writes a directory of part files."""
        address = self.target(suffix) if self.is_elsewhere else address_of(self.local(suffix))
        writer = frame.write.format(kind).options(**(options or {})).mode(self.mode)
        self.run(lambda: writer.save(address), self.target(suffix))
        if not self.is_elsewhere and not any(self.local(suffix).glob("part-*")):
            raise not_shared(self.local(suffix), self.directive.span)

    @property
    def mode(self) -> str:
        return self.params.get("mode", "overwrite")

    def run(self, write: Callable[[], None], name: str) -> None:
        try:
            write()
        except spark_errors() as error:
            message = f"cannot write `{self.relation.name}` to `{name}`: {cause_of(error)}"
            note = "check the parameters of the directive, and that the executors may write there"
            raise FlintlogError([Diagnostic("E712", message, self.directive.span, note)]) from error


def _parquet(sink: _Sink) -> None:
    sink.save(sink.plain, "parquet", ".parquet")


def _orc(sink: _Sink) -> None:
    sink.save(sink.plain, "orc", ".orc")


def _json_lines(sink: _Sink) -> None:
    lines = by_position(sink.plain).mapInArrow(partial(json_lines, sink.schema), "value string")
    sink.save(lines, "text", ".jsonl", _compression(sink))


def _format(sink: _Sink) -> None:
    kind = required(sink.params, "format", "spark", sink.directive.span)
    options = options_of(sink.params)
    if "filename" in sink.params:
        sink.save(sink.plain, kind, "", options)
        return
    writer = sink.plain.write.format(kind).options(**options).mode(sink.mode)
    sink.run(writer.save, f"the format {kind}")


def _table(sink: _Sink) -> None:
    name = table_name(sink.params, sink.relation.name)
    writer = sink.plain.write.mode(sink.mode).options(**options_of(sink.params))
    if "format" in sink.params:
        writer = writer.format(sink.params["format"])
    sink.run(lambda: writer.saveAsTable(name), f"table {name}")


def _database(sink: _Sink) -> None:
    options = jdbc_options(sink.params, sink.relation.name, sink.directive.span)
    writer = sink.plain.write.format("jdbc").options(**options).mode(sink.mode)
    sink.run(writer.save, f"table {options.get('dbtable')}")


def _delimited(sink: _Sink) -> None:
    layout = dialect({**sink.params, "columns": ""}, len(sink.schema.columns), sink.directive.span)
    names = [column.name for column in sink.schema.columns]
    first = header(sink.params, names) if is_true(sink.params, "headers") else None
    lines = by_position(sink.plain).mapInArrow(partial(delimited_lines, sink.schema, layout, first), "value string")
    packed = _compression(sink)
    sink.save(lines, "text", ".csv.gz" if packed else ".csv", packed)


def _json(sink: _Sink) -> None:
    as_objects = sink.params.get("format") == "object"
    text = by_position(sink.plain).coalesce(1).mapInArrow(partial(json_text, sink.schema, as_objects), "value string")
    sink.save(text, "text", ".json")


def _compression(sink: _Sink) -> dict[str, str]:
    return {} if sink.params.get("compress", "false") == "false" else {"compression": "gzip"}


def _only_here(sink: _Sink) -> None:
    kind = sink.params["IO"]
    message = f"cannot write `{sink.target('')}`: IO={kind} writes a file of this machine"
    raise FlintlogError([Diagnostic("E712", message, sink.directive.span, "use IO=parquet, or a local directory")])


_BY_SPARK: dict[str, Callable[[_Sink], None]] = {
    "parquet": _parquet,
    "orc": _orc,
    "jsonl": _json_lines,
    "table": _table,
    "jdbc": _database,
    "spark": _format,
}
# The kinds that are a single file on this machine, and how Spark writes them elsewhere; None: they exist only here.
_ONE_FILE: dict[str, Callable[[_Sink], None] | None] = {
    "file": _delimited,
    "csv": _delimited,
    "json": _json,
    "jsonfile": _json,
    "sqlite": _only_here,
    "arrow": _only_here,
    "stdout": None,
    "stdoutprintsize": None,
    "printsize": None,
}

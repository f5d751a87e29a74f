"""Facts out: which writer a directive asks for, and where it writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from errno import EBADF
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from flintlog.diagnostics import Diagnostic, Unsupported
from flintlog.io.atomic import atomic_file, cannot_write, encode
from flintlog.io.column_facts import ColumnFacts
from flintlog.io.formats import rfc4180
from flintlog.io.formats.delimited import written_lines
from flintlog.io.parameters import (
    SPARK_ONLY,
    Dialect,
    data_path,
    dialect,
    header,
    is_true,
    relation_name,
    require_columns,
    unknown_format,
)
from flintlog.io.row_order import ordered
from flintlog.io.schema import Schema
from flintlog.source import NOWHERE, Span
from flintlog.types import Field, Row, TypeTable

if TYPE_CHECKING:
    from gzip import GzipFile


def write_facts(
    schema: Schema,
    params: Mapping[str, str],
    rows: Iterable[Row],
    *,
    output_dir: Path,
    stdout: TextIO,
    notify: Callable[[Diagnostic], None] = lambda diagnostic: None,
    span: Span = NOWHERE,
) -> None:
    """Writes rows where an .output or .printsize directive with these parameters wants them, in a fixed order. A file
    appears when it is complete. `schema` has the relation's name in the program. `notify` gets warnings, with the
    directive's `span`. Raises FlintlogError where the rows cannot be written, Unsupported where only Spark can write
    them."""
    relation = schema.name
    check_output(relation, schema.columns, params)
    schema = replace(schema, name=relation_name(relation, params))
    _WRITERS[params.get("IO", "file")](_Job(relation, schema, params, output_dir, stdout, notify, span), rows)


def print_rows(
    relation: str, columns: Sequence[Field], rows: Iterable[Row], types: TypeTable, *, word_size: int, stdout: TextIO
) -> None:
    """Writes rows as the lines of an .output file, in a fixed order."""
    schema = Schema(relation, columns, types, word_size)
    job = _Job(relation, schema, {}, Path(), stdout, lambda diagnostic: None, NOWHERE)
    _print(stdout, job.lines(rows))


def check_output(relation: str, columns: Sequence[Field], params: Mapping[str, str]) -> None:
    """Raises what `write_facts` would raise whatever the rows are, so that nobody computes them in vain."""
    kind = params.get("IO", "file")
    if kind in SPARK_ONLY:
        message = f"IO={kind} of `{relation}` is written by Spark only"
        raise Unsupported([Diagnostic("E931", message, note="run with --engine spark")])
    if kind not in _WRITERS:
        raise unknown_format(kind, "output", [*_WRITERS, *SPARK_ONLY], NOWHERE)
    if kind in _NEED_COLUMNS:
        require_columns(columns, relation, _NEED_COLUMNS[kind], NOWHERE)


@dataclass(frozen=True)
class _Job:
    relation: str
    schema: Schema
    params: Mapping[str, str]
    output_dir: Path
    stdout: TextIO
    notify: Callable[[Diagnostic], None]
    span: Span

    def path(self, suffix: str) -> Path:
        return data_path(self.relation, self.params, self.output_dir, suffix)

    def header_line(self) -> str:
        if not is_true(self.params, "headers"):
            return ""
        return header(self.params, [column.name for column in self.schema.columns]) + "\n"

    def ordered(self, rows: Iterable[Row]) -> list[Row] | ColumnFacts:
        """The rows in the order in which they are written; as columns if the engine has them so."""
        as_columns: Callable[[], ColumnFacts | None] = getattr(rows, "as_columns", lambda: None)
        facts = as_columns()
        if facts is None:
            return ordered(rows, self.schema)
        from flintlog.io.column_order import in_order

        return in_order(facts)

    def delimited(self, rows: Iterable[Row], stream: BinaryIO | GzipFile) -> None:
        """Writes rows as lines."""
        stream.write(encode(self.header_line()))
        in_order = self.ordered(rows)
        layout = self._layout()
        if isinstance(in_order, ColumnFacts) and not layout.rfc4180:
            from flintlog.io.formats.delimited_columns import write_delimited_columns

            if write_delimited_columns(stream, self.schema, in_order, layout.delimiter):
                return
        stream.writelines(map(encode, self._lines(in_order)))

    def lines(self, rows: Iterable[Row]) -> Iterable[str]:
        return self._lines(self.ordered(rows))

    def _lines(self, in_order: list[Row] | ColumnFacts) -> Iterable[str]:
        layout = self._layout()
        pieces = written_lines(self.schema, in_order, layout)
        return self._watched(pieces) if layout.rfc4180 else pieces

    def _layout(self) -> Dialect:
        return dialect({**self.params, "columns": ""}, len(self.schema.columns))

    def _watched(self, pieces: Iterable[str]) -> Iterator[str]:
        """The same pieces. Warns of the first quotation mark that Soufflé's escape keeps from being read back."""
        is_said = False
        for piece in pieces:
            if not is_said and rfc4180.QUOTATION_MARK in piece:
                is_said = True
                message = f"`{self.relation}` has symbols with a quotation mark, which do not come back from this file"
                note = "with rfc4180=true it is written as Soufflé does, and read with its backslash; use IO=jsonfile"
                self.notify(Diagnostic("W702", message, self.span, note))
            yield piece

    def json(self, rows: Iterable[Row]) -> Iterable[str]:
        in_order = self.ordered(rows)
        as_objects = self.params.get("format") == "object"
        if isinstance(in_order, ColumnFacts):
            from flintlog.io.formats.json_columns import written_json_columns

            return written_json_columns(self.schema, in_order, as_objects)
        from flintlog.io.formats.json_rows import written_json

        return written_json(self.schema, in_order, as_objects)


def _print(stdout: TextIO | None, pieces: Iterable[str]) -> None:
    """Past the text layer where there is one: symbols may hold bytes that are no text."""
    if stdout is None:  # the process was started without one
        raise cannot_write(Path("/dev/stdout"), OSError(EBADF, os.strerror(EBADF)))
    buffer = getattr(stdout, "buffer", None)
    if buffer is None:
        stdout.writelines(pieces)
        return
    try:
        stdout.flush()
        for piece in pieces:
            buffer.write(encode(piece))
        buffer.flush()
    except BrokenPipeError:
        raise  # somebody has read enough
    except OSError as error:
        raise cannot_write(Path("/dev/stdout"), error) from error


# The usual one: a higher level takes several times as long for hardly a smaller file.
_GZIP_LEVEL = 6


def _write_file(job: _Job, rows: Iterable[Row]) -> None:
    if job.params.get("compress", "false") == "false":
        with atomic_file(job.path(".csv")) as stream:
            job.delimited(rows, stream)
        return
    import gzip

    # Without a name and a time inside, the same rows give the same bytes.
    path = job.path(".csv.gz")
    with atomic_file(path) as stream, gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=stream, mtime=0) as packed:
        job.delimited(rows, packed)


def _write_stdout(job: _Job, rows: Iterable[Row]) -> None:
    head = f"---------------\n{job.schema.name}\n{job.header_line()}===============\n"
    _print(job.stdout, [head, *job.lines(rows), "===============\n"])


def _write_size(job: _Job, rows: Iterable[Row]) -> None:
    count = len(rows) if isinstance(rows, Sized) else sum(1 for _ in rows)
    _print(job.stdout, [f"{job.schema.name}\t{count}\n"])


def _write_json_file(job: _Job, rows: Iterable[Row]) -> None:
    with atomic_file(job.path(".json")) as stream:
        stream.writelines(map(encode, job.json(rows)))


def _write_json(job: _Job, rows: Iterable[Row]) -> None:
    """IO=json is standard output to Soufflé, unless a file is named."""
    if "filename" in job.params:
        _write_json_file(job, rows)
    else:
        _print(job.stdout, job.json(rows))


def _write_sqlite(job: _Job, rows: Iterable[Row]) -> None:
    from flintlog.io.formats.sqlite import database_name, write_sqlite

    in_order = job.ordered(rows)
    database = database_name(job.relation, job.params, job.output_dir)
    if not database.startswith(("file:", ":memory:")):
        try:
            Path(database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(Path(database), error) from error
    if isinstance(in_order, ColumnFacts):
        from flintlog.io.formats.sqlite_columns import write_sqlite_columns

        write_sqlite_columns(database, job.schema, in_order)
    else:
        write_sqlite(database, job.schema, in_order)


def _write_parquet(job: _Job, rows: Iterable[Row]) -> None:
    _write_columnar(job, rows, is_parquet=True)


def _write_arrow(job: _Job, rows: Iterable[Row]) -> None:
    _write_columnar(job, rows, is_parquet=False)


def _write_columnar(job: _Job, rows: Iterable[Row], is_parquet: bool) -> None:
    from flintlog.io.formats.arrow_files import table_of, write_columnar

    in_order = job.ordered(rows)
    with atomic_file(job.path(".parquet" if is_parquet else ".arrow")) as stream:
        if isinstance(in_order, ColumnFacts):
            from flintlog.io.formats.table_columns import table_of_columns

            table = table_of_columns(job.schema, in_order)
        else:
            table = table_of(job.schema, in_order)
        write_columnar(stream, is_parquet, job.params.get("format") == "stream", table)


_WRITERS: dict[str, Callable[[_Job, Iterable[Row]], None]] = {
    "file": _write_file,
    "csv": _write_file,
    "stdout": _write_stdout,
    "stdoutprintsize": _write_size,
    "printsize": _write_size,
    "json": _write_json,
    "jsonfile": _write_json_file,
    "sqlite": _write_sqlite,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
}
_NEED_COLUMNS = {"sqlite": "SQLite", "parquet": "Parquet and Arrow files", "arrow": "Parquet and Arrow files"}

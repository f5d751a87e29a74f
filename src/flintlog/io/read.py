"""Facts in: which reader a directive asks for, and the bytes it reads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Diagnostic, FlintlogError, Report, Unsupported, did_you_mean
from flintlog.io.atomic import decode
from flintlog.io.formats.delimited import read_delimited
from flintlog.io.packed import DamagedFile, unpacked
from flintlog.io.parameters import (
    SPARK_ONLY,
    BadParameter,
    Dialect,
    data_path,
    dialect,
    is_true,
    relation_name,
    require_columns,
    unknown_format,
)
from flintlog.io.schema import Schema
from flintlog.source import NOWHERE, Span
from flintlog.types import Field, Row, TypeTable


def read_facts(
    relation: str,
    columns: Sequence[Field],
    params: Mapping[str, str],
    types: TypeTable,
    *,
    facts_dir: Path,
    word_size: int = 64,
    report: Report,
    span: Span = NOWHERE,
) -> list[Row]:
    """The rows that an .input directive with these parameters brings, duplicates included. Problems go into the report,
    with the place in the data or, where there is none, the directive's; the rows are then incomplete. Raises
    Unsupported for what only Spark can read."""
    name = relation_name(relation, params)
    job = _Job(relation, Schema(name, columns, types, word_size), params, facts_dir, report, span)
    kind = params.get("IO", "file")
    if kind in SPARK_ONLY:
        message = f"IO={kind} of `{relation}` is read by Spark only"
        raise Unsupported([Diagnostic("E931", message, span, "run with --engine spark")])
    try:
        if kind not in _READERS:
            raise unknown_format(kind, "input", [*_READERS, *SPARK_ONLY], span)
        return _READERS[kind](job)
    except FlintlogError as error:
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
        return []


@dataclass(frozen=True)
class _Job:
    relation: str
    schema: Schema
    params: Mapping[str, str]
    facts_dir: Path
    report: Report
    span: Span

    def path(self, suffix: str) -> Path:
        return data_path(self.relation, self.params, self.facts_dir, suffix)

    def missing(self, path: Path, error: OSError) -> FlintlogError:
        """Why a file cannot be opened, and what the user can do about it."""
        try:
            # The ending is what all of them have in common, so it must not make them look alike.
            alike = [entry for entry in path.parent.iterdir() if did_you_mean(path.stem, [entry.stem])]
            guess = did_you_mean(path.name, [entry.name for entry in alike if entry.is_file()])
        except OSError:
            guess = None
        way = "give the directory of the facts (-F, or `facts_dir` in Python), or the file with filename=…"
        if Path(self.params.get("filename", "")).is_absolute():
            way = "check the path"  # no directory would change it
        message = f"cannot open `{path}`, the facts of `{self.relation}`: {error.strerror}"
        return FlintlogError([Diagnostic("E701", message, self.span, f"{guess} Or {way}" if guess else way)])


def _read_text(job: _Job, path: Path) -> str | None:
    """A file's text, unpacked if it is gzip, whatever its name. None: it is missing, and that was said to be fine."""
    try:
        data = path.read_bytes()
    except OSError as error:
        if is_true(job.params, "no-warn"):
            return None
        raise job.missing(path, error) from error
    try:
        return decode(unpacked(data))
    except DamagedFile as error:
        message = f"`{path}` is a damaged gzip file: {error}"
        raise FlintlogError([Diagnostic("E707", message, job.span, "make the file again")]) from error


def _layout(job: _Job, params: Mapping[str, str]) -> Dialect:
    layout = dialect(params, len(job.schema.columns), job.span)
    if not layout.delimiter:
        note = 'give at least one character, such as delimiter=","'
        raise BadParameter("E653", "without a delimiter, columns cannot be told apart", job.span, note)
    return layout


def _read_file(job: _Job) -> list[Row]:
    layout = _layout(job, job.params)
    path = job.path(".facts")
    text = _read_text(job, path)
    return [] if text is None else read_delimited(text, str(path), job.schema, layout, job.report)


def _read_stdin(job: _Job) -> list[Row]:
    # As in Soufflé, `headers` is for files.
    params = {key: value for key, value in job.params.items() if key != "headers"}
    layout = _layout(job, params)
    return read_delimited(_stdin_text(), "<stdin>", job.schema, layout, job.report)


def _stdin_text() -> str:
    buffer = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if buffer is None else decode(buffer.read())


def _read_json_file(job: _Job) -> list[Row]:
    from flintlog.io.formats.json_rows import read_json

    path = job.path(".json")
    text = _read_text(job, path)
    return [] if text is None else read_json(text, str(path), job.schema, job.report)


def _read_json(job: _Job) -> list[Row]:
    """IO=json is standard input to Soufflé; a file that is named, or that is there, is meant all the same."""
    if "filename" in job.params or job.path(".json").is_file():
        return _read_json_file(job)
    from flintlog.io.formats.json_rows import read_json

    return read_json(_stdin_text(), "<stdin>", job.schema, job.report)


def _read_sqlite(job: _Job) -> list[Row]:
    from flintlog.io.formats.sqlite import database_name, read_sqlite

    require_columns(job.schema.columns, job.relation, "SQLite", job.span)
    database = database_name(job.relation, job.params, job.facts_dir)
    if not database.startswith(("file:", ":memory:")):
        _require_file(job, Path(database))
    return read_sqlite(database, job.schema, job.report, job.span)


def _read_parquet(job: _Job) -> list[Row]:
    return _read_columnar(job, is_parquet=True)


def _read_arrow(job: _Job) -> list[Row]:
    return _read_columnar(job, is_parquet=False)


def _read_columnar(job: _Job, is_parquet: bool) -> list[Row]:
    from flintlog.io.formats.arrow_files import read_columnar

    require_columns(job.schema.columns, job.relation, "Parquet and Arrow files", job.span)
    path = job.path(".parquet" if is_parquet else ".arrow")
    _require_file(job, path)
    return read_columnar(path, is_parquet, job.schema, job.report, job.span)


def _require_file(job: _Job, path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise job.missing(path, error) from error


_READERS: dict[str, Callable[[_Job], list[Row]]] = {
    "file": _read_file,
    "csv": _read_file,
    "stdin": _read_stdin,
    "json": _read_json,
    "jsonfile": _read_json_file,
    "sqlite": _read_sqlite,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}

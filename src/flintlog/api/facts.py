"""Facts from Python (rows, frames, Arrow tables, a path), checked against the relation's declaration.

An engine that reads sources itself receives Spark frames unchanged, and paths as sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from flintlog.api.choose_engine import is_spark_frame
from flintlog.api.locations import is_uri
from flintlog.api.tables import rows_in
from flintlog.api.values import NotAValue, converter, need_no_conversion
from flintlog.diagnostics import FlintlogError, Report, did_you_mean
from flintlog.io import read_facts
from flintlog.ir.program import IoDirective, Relation
from flintlog.types import Adt, Row, TypeTable

SHOWN_PER_RELATION = 10

_FORMATS = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".json": "jsonfile",
    ".sqlite": "sqlite",
    ".db": "sqlite",
}


def rows_of(
    relation: Relation, data: Any, types: TypeTable, word_size: int, report: Report, like: IoDirective | None = None
) -> list[Row]:
    """The rows of a relation from the caller's `data`. Rows with problems are omitted, and the problems added to the
    report. A file in the format of the `.input` `like` is read with the parameters of `like`."""
    try:
        if isinstance(data, str | PathLike):
            return _read(relation, data, types, word_size, report, like)
        if is_spark_frame(data):
            data = spark_frame(data).toArrow()
        return _checked(relation, rows_in(data, relation), types, word_size, report)
    except FlintlogError as error:
        for diagnostic in error.diagnostics:
            report.add(diagnostic)
        return []


def source_of(relation: Relation, path: str | PathLike[str]) -> IoDirective:
    """The `.input` directive for a file, whose ending says its format."""
    name = Path(path).with_suffix("") if Path(path).suffix == ".gz" else Path(path)
    params = {"IO": _FORMATS.get(name.suffix, "file"), "filename": str(path)}
    if not is_uri(str(path)):
        params["filename"] = str(Path(path).absolute())
    if name.suffix == ".csv" and not _is_ours(Path(path)):
        params["delimiter"] = ","
    return IoDirective("input", relation.name, tuple(params.items()))


def relation_for(name: str, relations: Mapping[str, Relation], report: Report) -> Relation | None:
    """The relation of this name; None, with an error in the report, if the program lacks it or it cannot have rows."""
    relation = relations.get(name)
    if relation is None:
        report.error("E909", f"the program has no relation `{name}`", note=did_you_mean(name, relations))
    elif relation.delta_of is not None:
        message = f"`{name}` observes another relation and cannot have rows of its own"
        report.error("E226", message, relation.span, note=f"give rows to `{relation.delta_of}`")
        return None
    return relation


def _is_ours(path: Path) -> bool:
    """Whether a `.csv` file has tabs, as `.output` and Soufflé write it, and no commas."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(1 << 16)
    except OSError:  # its reader reports the error
        return False
    return b"\t" in line and b"," not in line


def spark_frame(data: Any) -> Any:
    """A Spark DataFrame, also from a frame of `pyspark.pandas`."""
    return data.to_spark() if hasattr(data, "to_spark") else data


def _read(
    relation: Relation,
    path: str | PathLike[str],
    types: TypeTable,
    word_size: int,
    report: Report,
    like: IoDirective | None,
) -> list[Row]:
    params = dict(source_of(relation, path).params)
    known = dict(like.params) if like is not None else {}
    if known.get("IO", "file") == params["IO"] and (known.keys() - {"IO", "filename", "name"}):
        params = {**known, "filename": params["filename"]}
    return read_facts(
        relation.name, relation.columns, params, types, facts_dir=Path(), word_size=word_size, report=report
    )


def _checked(relation: Relation, data: Iterable[Any], types: TypeTable, word_size: int, report: Report) -> list[Row]:
    data = list(data)
    if need_no_conversion(data, relation.columns, types, word_size):
        return data
    converters = [converter(column.type, types, word_size) for column in relation.columns]
    names = [column.name for column in relation.columns]
    rows: list[Row] = []
    wrong = 0
    for number, row in enumerate(data):
        try:
            values = _parts(row, names)
            rows.append(tuple([convert(value) for convert, value in zip(converters, values, strict=True)]))
        except NotAValue as error:
            wrong += 1
            if wrong <= SHOWN_PER_RELATION:
                report.error("E904", f"row {number} for `{relation.name}` {error}")
    if wrong > SHOWN_PER_RELATION:
        report.error("E904", f"and {wrong - SHOWN_PER_RELATION} more rows for `{relation.name}` have problems")
    return rows


def _parts(row: Any, names: Sequence[str]) -> Sequence[Any]:
    """The values of a row; any other value is a row of one column. Raises NotAValue."""
    if isinstance(row, Mapping):
        if row.keys() != set(names):
            raise NotAValue(f"has the keys {_listed(row)}; the relation has the columns {_listed(names)}")
        return [row[name] for name in names]
    if hasattr(row, "tolist"):  # a row, or a scalar, of numpy
        row = row.tolist()
    values: Sequence[Any] = row if isinstance(row, tuple | list) and not isinstance(row, Adt) else (row,)
    if len(values) != len(names):
        plural = "value" if len(values) == 1 else "values"
        raise NotAValue(f"has {len(values)} {plural}; the relation has {len(names)} columns")
    return values


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"

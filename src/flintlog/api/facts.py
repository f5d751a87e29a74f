"""Facts that a caller hands over in Python (rows, frames, Arrow tables, a path), checked against the declaration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.io import read_facts
from flintlog.ir.program import Relation
from flintlog.ir.words import Words
from flintlog.types import Adt, AdtType, Kind, RecordType, Row, TypeTable, Value


def rows_of(relation: Relation, data: Any, types: TypeTable, word_size: int) -> list[Row]:
    """The rows of a relation from whatever the caller has."""
    if isinstance(data, str | Path):
        return _read(relation, Path(data), types, word_size)
    words = Words(word_size)
    rows: list[Row] = []
    for number, row in enumerate(_iterate(data)):
        values = tuple(row) if isinstance(row, tuple | list) else (row,)
        if len(values) != len(relation.columns):
            raise _error(
                relation, number, f"has {len(values)} values; the relation has {len(relation.columns)} columns"
            )
        try:
            rows.append(tuple(_value(v, f.type, types, words) for v, f in zip(values, relation.columns, strict=True)))
        except ValueError as error:
            raise _error(relation, number, str(error)) from None
    return rows


def _iterate(data: Any) -> Iterator[Any]:
    if hasattr(data, "to_arrow"):  # polars
        data = data.to_arrow()
    elif type(data).__module__.startswith("pandas."):
        return iter(data.itertuples(index=False, name=None))
    if type(data).__module__.startswith("pyarrow."):
        return iter(zip(*(column.to_pylist() for column in data.columns), strict=True))
    if not isinstance(data, Iterable):
        message = f"cannot read rows from a {type(data).__name__}"
        note = "give rows, a pandas or polars data frame, an Arrow table, or a path"
        raise FlintlogError([Diagnostic("E904", message, note=note)])
    return iter(data)


def _read(relation: Relation, path: Path, types: TypeTable, word_size: int) -> list[Row]:
    formats = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".json": "json"}
    params = {"IO": formats.get(path.suffix, "file"), "filename": str(path.absolute())}
    if path.suffix == ".csv":
        params["delimiter"] = ","
    report = Report()
    rows = read_facts(
        relation.name, relation.columns, params, types, facts_dir=Path(), word_size=word_size, report=report
    )
    report.raise_if_errors()
    return rows


def _error(relation: Relation, number: int, problem: str) -> FlintlogError:
    return FlintlogError([Diagnostic("E904", f"row {number} for `{relation.name}` {problem}")])


def _value(value: Any, type_name: str, types: TypeTable, words: Words) -> Value:
    """A value as the engines want it; numpy's scalars become Python's own."""
    declared = types[type_name]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    match declared.kind:
        case Kind.NUMBER | Kind.UNSIGNED if isinstance(value, int) and not isinstance(value, bool):
            if words.fits(value, declared.kind):
                return value
            raise ValueError(f"has {value}, which is out of range for {type_name}")
        case Kind.FLOAT if isinstance(value, int | float) and not isinstance(value, bool):
            return words.real(float(value))
        case Kind.SYMBOL if isinstance(value, str):
            return value
        case Kind.RECORD if value is None or isinstance(value, tuple | list):
            return _record(value, declared, types, words)
        case Kind.ADT if isinstance(value, Adt) and isinstance(declared, AdtType):
            branch = declared.branch(value.branch)
            if branch is not None and len(branch.fields) == len(value.args):
                args = zip(value.args, branch.fields, strict=True)
                return Adt(value.branch, tuple(_value(v, f.type, types, words) for v, f in args))
    raise ValueError(f"has {value!r}, which is not a {type_name}")


def _record(value: Any, declared: Any, types: TypeTable, words: Words) -> Value:
    if value is None:
        return None
    assert isinstance(declared, RecordType)
    if len(value) != len(declared.fields):
        raise ValueError(f"has {value!r}; a {declared.name} has {len(declared.fields)} fields")
    return tuple(_value(v, f.type, types, words) for v, f in zip(value, declared.fields, strict=True))

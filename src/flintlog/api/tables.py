"""Tables of other libraries, as rows: pandas, polars, Arrow, numpy, dictionaries of columns. None of these is imported
here: whoever hands over a frame has its library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.io.schema import column_places
from flintlog.ir.program import Relation


def rows_in(data: Any, relation: Relation) -> Iterable[Any]:
    """The rows of a table in the order of the relation's columns, or the elements of anything else that has some."""
    library = _library(data)
    if library == "polars" and hasattr(data, "collect"):  # a lazy frame
        data = data.collect()
    if isinstance(data, Mapping):
        columns = [list(column) for column in data.values()]
        return _rows(list(map(str, data)), columns, max(map(len, columns), default=0), relation)
    if library == "pandas" and hasattr(data, "columns"):
        columns = [data.iloc[:, place].tolist() for place in range(len(data.columns))]
        return _rows(list(map(str, data.columns)), columns, len(data), relation)
    if library == "polars" and hasattr(data, "columns"):
        return _rows(data.columns, [column.to_list() for column in data.get_columns()], len(data), relation)
    if library == "polars" and hasattr(data, "to_list"):
        return _elements(data.to_list())
    if library in ("numpy", "pandas") and hasattr(data, "tolist"):
        return _elements(data.tolist())
    if hasattr(data, "to_pylist") and not hasattr(data, "schema"):  # an Arrow array
        return _elements(data.to_pylist())
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        import pyarrow as pa

        table = pa.table(data)
        return _rows(table.column_names, [column.to_pylist() for column in table.columns], len(table), relation)
    return _elements(data)


def _library(data: Any) -> str:
    """Where a type comes from; a subclass of a frame is a frame."""
    homes = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((home for home in homes if home in ("numpy", "pandas", "polars")), "")


def _elements(data: Any) -> Iterable[Any]:
    if isinstance(data, bytes | bytearray) or not isinstance(data, Iterable):
        message = f"cannot read rows from a value of type {type(data).__name__}"
        note = "give rows, a pandas or polars data frame, an Arrow table, or a path"
        raise FlintlogError([Diagnostic("E907", message, note=note)])
    return data


def _rows(names: Sequence[str], columns: Sequence[Sequence[Any]], count: int, relation: Relation) -> Iterable[Any]:
    chosen = _chosen(names, relation)
    if any(len(columns[place]) != count for place in chosen):
        message = f"the columns for `{relation.name}` are of different length"
        raise FlintlogError([Diagnostic("E908", message, note="a table has as many values in each column")])
    if not chosen:
        return [()] * count
    return zip(*(columns[place] for place in chosen), strict=True)


def _chosen(names: Sequence[str], relation: Relation) -> Sequence[int]:
    """Which column of a table belongs to each column of the relation."""
    wanted = [column.name for column in relation.columns]
    chosen = column_places(wanted, names)
    if chosen is not None:
        return chosen
    message = f"the columns of the table for `{relation.name}` are not those of the relation"
    note = f"the table has {_listed(names)}, the relation {_listed(wanted)}"
    raise FlintlogError([Diagnostic("E908", message, note=note)])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"

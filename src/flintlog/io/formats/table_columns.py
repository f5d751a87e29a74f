"""Between Arrow's arrays and columns of facts, and the facts of Parquet and Arrow files that way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.io.column_values import checked_numbers, symbols_of
from flintlog.io.formats.arrow_files import arrow_type, chosen_columns, not_text, open_parquet, read_ipc
from flintlog.io.schema import Schema
from flintlog.source import NOWHERE
from flintlog.types import Field, Kind

if TYPE_CHECKING:
    import pyarrow as pa

# Fewer texts are told apart in Python before Arrow's functions are loaded.
_FEW = 50_000


def read_parquet_columns(path: Path, schema: Schema) -> ColumnFacts | None:
    """The rows of a Parquet file; None, or FlintlogError, where it has to be read carefully."""
    import pyarrow as pa

    try:
        file = open_parquet(path)
        found = file.schema_arrow
        names = [found.names[index] for index in chosen_columns(found, schema, path, NOWHERE)]
        # Symbols are numbered in the file already.
        symbols = [name for name, kind in zip(names, schema.kinds(), strict=True) if kind is Kind.SYMBOL]
        if symbols:
            file = open_parquet(path, read_dictionary=symbols)
        table = file.read(columns=names)
        return _facts([table.column(name) for name in names], schema)
    except (pa.ArrowException, UnicodeDecodeError, KeyError):
        return None


def read_arrow_columns(path: Path, schema: Schema) -> ColumnFacts | None:
    """The rows of an Arrow file; None, or FlintlogError, where it has to be read carefully."""
    import pyarrow as pa

    try:
        table = read_ipc(path)
        return _facts([table.column(i) for i in chosen_columns(table.schema, schema, path, NOWHERE)], schema)
    except (pa.ArrowException, UnicodeDecodeError):
        return None


def _facts(found: list[Any], schema: Schema) -> ColumnFacts | None:
    columns = []
    for array, column in zip(found, schema.columns, strict=True):
        values = _values(array, column, schema)
        if values is None:
            return None
        columns.append(values)
    return ColumnFacts(tuple(columns), len(found[0]))


def _values(array: Any, column: Field, schema: Schema) -> Any:
    from pyarrow import types

    scalar = schema.scalar_of(column)
    if scalar is None or array.null_count:
        return None
    if scalar.kind is Kind.SYMBOL:
        return symbols_of_arrow(array)
    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return None if array.null_count else checked_numbers(array.to_numpy(), scalar, schema.word_size)


def symbols_of_arrow(array: Any) -> Symbols | None:
    """A chunked array of strings, or of a dictionary of them, without nulls. None where the dictionary has some."""
    from pyarrow import types

    if not types.is_dictionary(array.type):
        if len(array) <= _FEW:
            return symbols_of(array.to_pylist())
        array = array.dictionary_encode()
    if not len(array):
        return Symbols(np.empty(0, np.int64), [])
    chunks = array.unify_dictionaries().chunks
    texts = chunks[0].dictionary.to_pylist()
    if len(set(texts)) < len(texts) or None in texts:
        return None
    return Symbols(np.concatenate([chunk.indices.to_numpy().astype(np.int64) for chunk in chunks]), texts)


def arrow_array(values: Any, type_: pa.DataType | None = None) -> pa.Array:
    """One column as an Arrow array, symbols as strings. UnicodeEncodeError where one of these is no text."""
    import pyarrow as pa

    if not isinstance(values, Symbols):
        return pa.array(values, type_)
    return pa.array(values.texts, pa.string()).take(pa.array(values.positions))


def table_of_columns(schema: Schema, facts: ColumnFacts) -> pa.Table:
    """The same table as of the same rows; FlintlogError where a symbol is no text."""
    import pyarrow as pa

    arrays = []
    for column, values in zip(schema.columns, facts.columns, strict=True):
        try:
            arrays.append(arrow_array(values, arrow_type(column, schema)))
        except UnicodeEncodeError as error:
            raise not_text(column, schema) from error
    return pa.Table.from_arrays(arrays, names=[column.name for column in schema.columns])

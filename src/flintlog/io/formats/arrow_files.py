"""Rows in Parquet files and Arrow IPC files. Records and branches are columns of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.io.formats.json_values import float_value, integer_value
from flintlog.io.numerals import ValueTextError, is_single
from flintlog.io.problems import FileProblems
from flintlog.io.schema import Schema
from flintlog.io.text_values import quote_symbol
from flintlog.source import Span
from flintlog.types import Field, Kind, Row, Value

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def read_columnar(path: Path, is_parquet: bool, schema: Schema, report: Report, span: Span) -> list[Row]:
    import pyarrow as pa

    try:
        table = open_parquet(path).read() if is_parquet else read_ipc(path)
    except (pa.ArrowException, OSError) as error:
        kind = "a Parquet file" if is_parquet else "an Arrow file"
        message = f"cannot read `{path}` as {kind}: {str(error).splitlines()[0]}"
        raise FlintlogError([Diagnostic("E711", message, span)]) from error
    problems = FileProblems(report, str(path))
    columns = [
        _values(table.column(index), column, schema, problems)
        for index, column in zip(chosen_columns(table.schema, schema, path, span), schema.columns, strict=True)
    ]
    problems.close()
    return [] if problems.any else list(zip(*columns, strict=True))


def open_parquet(path: Path, read_dictionary: Sequence[str] = ()) -> pq.ParquetFile:
    """A Parquet file to read from; columns in `read_dictionary` come as dictionaries of their texts."""
    import pyarrow.parquet as pq

    # One file, whatever its directories are called: no partition columns are read out of the path.
    return pq.ParquetFile(path, read_dictionary=list(read_dictionary))


def read_ipc(path: Path) -> pa.Table:
    """An Arrow file, of either form."""
    import pyarrow as pa

    data = path.read_bytes()
    opening = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
    with opening(data) as reader:
        return reader.read_all()


def chosen_columns(found: pa.Schema, schema: Schema, path: Path, span: Span) -> list[int]:
    """Which column of the file belongs to each column of the relation: by name or, where no name fits, by position."""
    chosen = schema.places_in(found.names)
    if chosen is None:
        message = f"the columns of `{path}` are not those of `{schema.name}`"
        wanted = [column.name for column in schema.columns]
        note = f"the file has {_listed(found.names)}, the relation {_listed(wanted)}"
        raise FlintlogError([Diagnostic("E710", message, span, note)])
    wrong = [
        f"`{column.name}` is {found.types[index]} in the file and `{column.type}` in the relation"
        for index, column in zip(chosen, schema.columns, strict=True)
        if not _fits(found.types[index], schema.type_of(column).kind)
    ]
    if wrong:
        message = f"the columns of `{path}` have other types than those of `{schema.name}`"
        raise FlintlogError([Diagnostic("E710", message, span, "; ".join(wrong))])
    return chosen


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _fits(found: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_dictionary(found):
        found = found.value_type
    if kind is Kind.FLOAT:
        return bool(types.is_floating(found) or types.is_integer(found))
    if kind in (Kind.NUMBER, Kind.UNSIGNED):
        return bool(types.is_integer(found))
    return bool(types.is_string(found) or types.is_large_string(found) or types.is_string_view(found))


def _values(found: pa.ChunkedArray, column: Field, schema: Schema, problems: FileProblems) -> Sequence[Value]:
    items: list[Any] = found.to_pylist()
    if schema.type_of(column).kind is Kind.SYMBOL and not found.null_count:
        return items
    convert = _reader(column, schema)
    values: list[Value] = []
    for number, item in enumerate(items, start=1):
        try:
            values.append(convert(item))
        except ValueTextError as error:
            code = "E704" if error.out_of_range else "E703"
            problems.add(code, f"row {number}, column `{column.name}`: {error.message}", str(item), number)
    return values


def _reader(column: Field, schema: Schema) -> Callable[[Any], Value]:
    scalar = schema.scalar_of(column)
    parse = schema.parser(column)

    def read(item: Any) -> Value:
        if item is None:
            if schema.type_of(column).kind is Kind.RECORD:
                return None
            raise ValueTextError(f"a value of type `{column.type}` is missing")
        if scalar is None:
            return parse(item)
        if scalar.kind is Kind.FLOAT:
            return float_value(item, scalar, schema.word_size)
        return integer_value(item, scalar, schema.word_size) if scalar.kind.is_numeric else str(item)

    return read


def write_columnar(stream: BinaryIO, is_parquet: bool, as_stream: bool, table: pa.Table) -> None:
    import pyarrow as pa

    if is_parquet:
        import pyarrow.parquet as pq

        pq.write_table(table, stream)
        return
    opening = pa.ipc.new_stream if as_stream else pa.ipc.new_file
    with opening(stream, table.schema) as writer:
        writer.write_table(table)


def table_of(schema: Schema, rows: Sequence[Row]) -> pa.Table:
    """Rows as an Arrow table; FlintlogError where a symbol is no text."""
    import pyarrow as pa

    arrays = []
    for index, column in enumerate(schema.columns):
        values: list[Any] = [row[index] for row in rows]
        if schema.scalar_of(column) is None:
            values = list(map(schema.printer(column, quote_symbol), values))
        try:
            arrays.append(pa.array(values, arrow_type(column, schema)))
        except UnicodeEncodeError as error:
            raise not_text(column, schema) from error
    return pa.Table.from_arrays(arrays, names=[column.name for column in schema.columns])


def not_text(column: Field, schema: Schema) -> FlintlogError:
    message = f"column `{column.name}` of `{schema.name}` holds bytes that are not UTF-8"
    note = "Parquet and Arrow can only hold UTF-8: write it with IO=file"
    return FlintlogError([Diagnostic("E713", message, note=note)])


def arrow_type(column: Field, schema: Schema) -> pa.DataType:
    """The type of a column in a file that Flintlog writes."""
    import pyarrow as pa

    scalar = schema.scalar_of(column)
    if scalar is None or scalar.kind is Kind.SYMBOL:
        return pa.string()
    if scalar.kind is Kind.FLOAT:
        return pa.float32() if is_single(scalar, schema.word_size) else pa.float64()
    # A whole word for sized types too: a program computes in words, and may have computed more than the type holds.
    prefix = "u" if scalar.kind is Kind.UNSIGNED else ""
    return getattr(pa, f"{prefix}int{schema.word_size}")()

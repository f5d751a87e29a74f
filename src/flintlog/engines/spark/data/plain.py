"""Plain columns: the values of each kind in DataFrames that a user can read, and in Arrow.

Numbers are bigint, unsigned ones decimal(20,0), floats double, symbols strings; records and branches are the texts that
stand for them in Parquet files. Equal values have equal texts, so that a text can be a key of the dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flintlog.io.atomic import decode, encode
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.io.numerals import print_float, round_to_single
from flintlog.io.schema import Schema
from flintlog.io.text_values import quote_symbol
from flintlog.types import Adt, Kind, Row, Value

if TYPE_CHECKING:
    import numpy
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

# The column of a relation without columns: if the frame has a row, the relation holds.
NULLARY = "c0"
_DDL = {Kind.NUMBER: "bigint", Kind.UNSIGNED: "decimal(20,0)", Kind.FLOAT: "double"}


def spark_type(kind: Kind) -> str:
    """The type of a plain column, as Spark's DDL spells it."""
    return _DDL.get(kind, "string")


def column_names(count: int) -> list[str]:
    """The columns of word frames and of frames in tasks: c0, c1, …; for a relation without columns, c0."""
    return [f"c{position}" for position in range(count)] or [NULLARY]


def by_position(frame: DataFrame) -> DataFrame:
    """The frame with its columns named by their positions."""
    return frame.toDF(*column_names(len(frame.columns)))


def decimal(number: int) -> Column:
    """A literal of Spark for a number that may be too large for a bigint."""
    from pyspark.sql import functions as fn

    return fn.lit(str(number)).cast("decimal(20,0)")


def plain_ddl(kinds: Sequence[Kind]) -> str:
    """The columns of a plain frame, named by their positions: names of a program may differ in case only, or hold
    characters that have a meaning for Spark."""
    return ", ".join(f"c{position} {spark_type(kind)}" for position, kind in enumerate(kinds)) or f"{NULLARY} bigint"


def arrow_type(kind: Kind) -> pa.DataType:
    import pyarrow as pa

    if kind is Kind.NUMBER:
        return pa.int64()
    if kind is Kind.UNSIGNED:
        return pa.decimal128(20, 0)
    return pa.float64() if kind is Kind.FLOAT else pa.string()


def plain_table(schema: Schema, rows: Iterable[Row] | ColumnFacts) -> pa.Table:
    """Rows as plain columns, named by their positions."""
    import pyarrow as pa

    if not schema.columns:
        return pa.table({NULLARY: pa.array([0] * sum(1 for _ in rows), pa.int64())})
    if isinstance(rows, ColumnFacts):
        arrays = [_array_of(column) for column in rows.columns]
    else:
        kept = list(rows)
        arrays = [_array(kind, [row[position] for row in kept]) for position, kind in enumerate(schema.kinds())]
    return pa.Table.from_arrays(arrays, names=column_names(len(arrays)))


def _array_of(column: Any) -> pa.Array:
    import pyarrow as pa

    if isinstance(column, Symbols):
        return text_array(column.texts).take(pa.array(column.positions))
    return decimals(column) if column.dtype.kind == "u" else pa.array(column)


def _array(kind: Kind, values: list[Any]) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if kind is Kind.UNSIGNED:
        return decimals(np.array(values, np.uint64))
    if kind.is_numeric:
        return pa.array(values, arrow_type(kind), from_pandas=False)
    if kind is not Kind.SYMBOL:
        values = list(map(record_text, values))
    return text_array(values)


def decimals(values: NDArray[numpy.uint64]) -> pa.Array:
    """Unsigned numbers as Arrow's decimals of 16 bytes, whose upper halves are zero."""
    import numpy as np
    import pyarrow as pa

    halves = np.zeros((len(values), 2), np.uint64)
    halves[:, 0] = values
    return pa.Array.from_buffers(arrow_type(Kind.UNSIGNED), len(values), [None, pa.py_buffer(halves)])


def unsigned_of(array: pa.Array) -> NDArray[numpy.uint64]:
    """The inverse of `decimals`."""
    import numpy as np

    whole = np.frombuffer(array.buffers()[1], np.uint64).reshape(-1, 2)[array.offset : array.offset + len(array)]
    return np.ascontiguousarray(whole[:, 0])


def text_array(texts: Sequence[str]) -> pa.Array:
    """Texts as strings. Bytes that were not UTF-8 in the input are the same bytes again: Arrow and Spark accept them as
    long as they do not have to decode them."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array(list(map(encode, texts)), pa.binary()).view(pa.string())


def narrow(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same strings or bytes with offsets of 32 bits: sessions may be configured to use 64."""
    import pyarrow as pa

    wide = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return array.cast(wide[array.type]) if array.type in wide else array


def texts_of(array: pa.Array | pa.ChunkedArray) -> list[str]:
    """The inverse of `text_array`."""
    import pyarrow as pa

    try:
        texts: list[str] = array.to_pylist()
    except UnicodeDecodeError:
        texts = [decode(data) for data in array.cast(pa.binary()).to_pylist()]
    return texts


def rows_of(table: pa.Table, schema: Schema) -> list[Row]:
    """The rows of a plain table, as Python values."""
    if not schema.columns:
        return [()] * table.num_rows
    columns = []
    for position, (kind, column) in enumerate(zip(schema.kinds(), schema.columns, strict=True)):
        array = narrow(table.column(position).combine_chunks())
        if kind is Kind.UNSIGNED:
            columns.append(unsigned_of(array).tolist())
        elif kind.is_numeric:
            columns.append(array.to_pylist())
        else:
            columns.append(list(map(schema.parser(column), texts_of(array))))
    return list(zip(*columns, strict=True))


def record_text(value: Value) -> str:
    """A record or branch as text that can be read back. Two values have the same text exactly if they are equal, so the
    text of a float shows that it is one, and has all its digits. Does not recurse: lists are deep records."""
    pieces: list[str] = []
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Piece):
            pieces.append(item.text)
        elif item is None:
            pieces.append("nil")
        elif isinstance(item, str):
            pieces.append(quote_symbol(item))
        elif isinstance(item, float):
            pieces.append(_float_text(item))
        elif isinstance(item, Adt):
            pieces.append("$" + item.branch)
            if item.args:
                pieces.append("(")
                todo += [_Piece(")"), *_separated(item.args)]
        elif isinstance(item, tuple):
            pieces.append("[")
            todo += [_Piece("]"), *_separated(item)]
        else:
            pieces.append(str(item))
    return "".join(pieces)


def _float_text(value: float) -> str:
    # Readers refuse decimal numerals of subnormal numbers, which have lost digits.
    if 0 < abs(value) < _LEAST or (0 < abs(value) < _LEAST_SINGLE and round_to_single(value) == value):
        return value.hex()
    text = print_float(value, 17)
    return f"{text}.0" if text.removeprefix("-").isdigit() else text


_LEAST, _LEAST_SINGLE = 2.0**-1022, 2.0**-126


class _Piece:
    """Text between values."""

    def __init__(self, text: str) -> None:
        self.text = text


_COMMA = _Piece(", ")


def _separated(values: tuple[Value, ...]) -> Iterator[Any]:
    """The values in reverse, as a stack needs them, with commas between them."""
    for position, value in enumerate(reversed(values)):
        if position:
            yield _COMMA
        yield value

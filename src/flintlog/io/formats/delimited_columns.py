"""Delimited text in columns, read and written by Arrow. What Arrow takes for something else than the careful reader
does is looked for beforehand, and leads to None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.io.column_values import Numbers, checked_numbers
from flintlog.io.formats.table_columns import arrow_array, symbols_of_arrow
from flintlog.io.numerals import is_single
from flintlog.io.parameters import Dialect
from flintlog.io.schema import Schema
from flintlog.types import Kind, ScalarType

if TYPE_CHECKING:
    from gzip import GzipFile

    import pyarrow as pa

_ARROW = {Kind.NUMBER: "int64", Kind.UNSIGNED: "uint64", Kind.FLOAT: "float64"}


def read_delimited_columns(data: bytes, schema: Schema, layout: Dialect) -> ColumnFacts | None:
    """The rows of a whole file; None where it has to be read carefully."""
    lines = _lines(data, layout)
    if lines is None:
        return None
    delimiter = layout.delimiter.encode()
    width = lines[: lines.find(b"\n") if b"\n" in lines else len(lines)].count(delimiter) + 1
    if width <= max(layout.picks) or (width > len(layout.picks) and not layout.chosen):
        return None
    if width > 1 and (lines.startswith(b"\n") or b"\n\n" in lines):
        return None  # Arrow makes a row of empty symbols of a line without any
    kinds: list[Kind | None] = [None] * width
    for place, kind in zip(layout.picks, schema.kinds(), strict=True):
        kinds[place] = kind
    doubtful = _has_blank_ends(lines, delimiter, kinds) or _has_prefixes(lines, delimiter, kinds)
    if doubtful and not _are_plain_numerals(lines, layout.delimiter, kinds):
        return None
    table = _table(lines, layout.delimiter, kinds)
    if table is None:
        return None
    columns = []
    for place, column in zip(layout.picks, schema.columns, strict=True):
        scalar = schema.scalar_of(column)
        values = None if scalar is None else _values(table.column(str(place)), scalar, schema.word_size)
        if values is None:
            return None
        columns.append(values)
    return ColumnFacts(tuple(columns), len(table))


def _lines(data: bytes, layout: Dialect) -> bytes | None:
    """The lines that hold rows, if Arrow and the careful reader agree on where lines and fields end."""
    if len(layout.delimiter) != 1 or not 0 < ord(layout.delimiter) < 128 or layout.delimiter in "\r\n":
        return None
    if layout.rfc4180 and b'"' in data:
        return None
    # Elsewhere a comma may stand inside a record's brackets, but there are no records here; brackets, though, would
    # still keep a symbol together.
    if layout.delimiter == "," and not layout.rfc4180 and (b"[" in data or b"]" in data):
        return None
    if b"\r" in data:
        if data.count(b"\r") != data.count(b"\r\n"):
            return None
        data = data.replace(b"\r\n", b"\n")
    if layout.headers:
        data = data[data.find(b"\n") + 1 :] if b"\n" in data else b""
    # Arrow would drop a byte order mark.
    return None if not data or data.startswith(b"\xef\xbb\xbf") else data


def _has_blank_ends(data: bytes, delimiter: bytes, kinds: Sequence[Kind | None]) -> bool:
    """Whether a number may end with a blank, which Arrow would not mind."""
    inside, last = any(map(_is_numeric, kinds[:-1])), _is_numeric(kinds[-1])
    return any(
        (inside and blank + delimiter in data) or (last and (blank + b"\n" in data or data.endswith(blank)))
        for blank in (b" ", b"\t")
        # One byte is looked for much faster than two, and most files have none of the other blank.
        if blank != delimiter and blank in data
    )


def _has_prefixes(data: bytes, delimiter: bytes, kinds: Sequence[Kind | None]) -> bool:
    """Whether a number may be hexadecimal: Arrow takes that for signed ones too."""
    return any(map(_is_numeric, kinds)) and any(
        data.startswith(prefix) or any(begin + prefix in data for begin in (delimiter, b"\n", b" ", b"\t", b"-"))
        for prefix in (b"0x", b"0X")
        if prefix[1:] in data and prefix in data
    )


def _are_plain_numerals(data: bytes, delimiter: str, kinds: Sequence[Kind | None]) -> bool:
    """Whether it is in symbols that all the blanks and prefixes stand."""
    texts = _table(data, delimiter, kinds, numbers_as_text=True)
    if texts is None:
        return False
    for chunk in (chunk for column in texts.columns for chunk in column.chunks):
        buffer = chunk.buffers()[2]
        numerals = b"" if buffer is None else buffer.to_pybytes()
        if any(mark in numerals for mark in (b" ", b"\t", b"x", b"X")):
            return False
    return True


def _is_numeric(kind: Kind | None) -> bool:
    return kind is not None and kind is not Kind.SYMBOL


def _table(
    data: bytes, delimiter: str, kinds: Sequence[Kind | None], *, numbers_as_text: bool = False
) -> pa.Table | None:
    """Columns are named by their places; those without a kind are left out, or all but numbers, which are then text."""
    import pyarrow as pa
    from pyarrow import csv

    if numbers_as_text:
        types = {str(place): pa.string() for place, kind in enumerate(kinds) if _is_numeric(kind)}
    else:
        symbol = pa.dictionary(pa.int32(), pa.string())
        types = {
            str(place): pa.type_for_alias(_ARROW[kind]) if kind in _ARROW else symbol
            for place, kind in enumerate(kinds)
            if kind is not None
        }
    try:
        return csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=[str(place) for place in range(len(kinds))]),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None


def _values(column: Any, scalar: ScalarType, word_size: int) -> Any:
    if scalar.kind is Kind.SYMBOL:
        return symbols_of_arrow(column)
    found = column.to_numpy()
    if scalar.kind is Kind.FLOAT and not _plain_floats(found, is_single(scalar, word_size)):
        return None
    return checked_numbers(found, scalar, word_size)


def _plain_floats(found: Numbers, single: bool) -> bool:
    """Whether all have a value, and all of its digits: what is too large or too small for that is a mistake. A single
    must not lie half-way between two of them: which one is nearer to the numeral can then not be told any more."""
    size = np.abs(found)
    least = np.finfo(np.float32 if single else np.float64).tiny
    if not np.all(np.isfinite(found) & ((size == 0) | (size >= least))):
        return False
    return not single or not np.any(found.view(np.uint64) & 0x1FFFFFFF == 0x10000000)


def write_delimited_columns(stream: BinaryIO | GzipFile, schema: Schema, facts: ColumnFacts, delimiter: str) -> bool:
    """Writes rows as delimited text, in their order. Writes nothing and returns False where a symbol holds what Arrow
    would have to quote, there are floats, whose digits Arrow chooses in another way, or the delimiter is none to it."""
    if Kind.FLOAT in schema.kinds() or len(delimiter) != 1 or not 0 < ord(delimiter) < 128 or delimiter in '\r\n"':
        return False
    if any(isinstance(column, Symbols) and _needs_quotes(column.texts, delimiter) for column in facts.columns):
        return False
    import pyarrow as pa
    from pyarrow import csv

    arrays = [arrow_array(column) for column in facts.columns]
    table = pa.Table.from_arrays(arrays, names=[str(place) for place in range(len(arrays))])
    options = csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="none", batch_size=_ROWS_AT_ONCE
    )
    csv.write_csv(table, stream, options)
    return True


_ROWS_AT_ONCE = 1 << 16


def _needs_quotes(texts: Sequence[str], delimiter: str) -> bool:
    """Also where a text is no UTF-8, which Arrow cannot hold."""
    joined = "\0".join(texts)
    if any(mark in joined for mark in ('"', "\n", "\r", delimiter)):
        return True
    return not joined.isascii() and any("\ud800" <= mark <= "\udfff" for mark in set(joined))

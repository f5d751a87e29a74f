"""Converts plain tables to tables of words, and back, on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.data.dictionaries.word_columns import float_words, words_as_floats
from flintlog.engines.spark.data.plain import (
    column_names,
    decimals,
    narrow,
    record_text,
    text_array,
    texts_of,
    unsigned_of,
)
from flintlog.io.text_values import value_parser
from flintlog.types import Field, Kind, TypeTable

if TYPE_CHECKING:
    import pyarrow as pa


def words_of_plain(
    table: pa.Table, columns: Sequence[Field], kinds: Sequence[Kind], machine: Machine, types: TypeTable
) -> pa.Table:
    """The words of a plain table. New values get the machine's next numbers."""
    import pyarrow as pa

    arrays = []
    for position, (kind, column) in enumerate(zip(kinds, columns, strict=True)):
        array = narrow(_whole(table.column(position)))
        arrays.append(pa.array(_words(array, kind, column.type, machine, types)))
    return pa.Table.from_arrays(arrays, names=column_names(len(arrays)))


def _whole(column: Any) -> Any:
    import pyarrow as pa

    whole = column.combine_chunks()
    # combine_chunks returns a chunked array if a single array cannot hold all bytes.
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _words(array: Any, kind: Kind, type_name: str, machine: Machine, types: TypeTable) -> Any:
    size = machine.words.size
    if kind is Kind.NUMBER:
        return array.to_numpy()
    if kind is Kind.UNSIGNED:
        words = unsigned_of(array).view(np.int64)
        return words if size == 64 else words.astype(np.int32).astype(np.int64)
    if kind is Kind.FLOAT:
        return float_words(array.to_numpy(), size)
    encoded = array.dictionary_encode()
    texts = texts_of(encoded.dictionary)
    if kind is Kind.SYMBOL:
        numbers = machine.intern(texts)
    else:
        parse = value_parser(type_name, types, size)
        numbers = [machine.word(parse(text), kind) for text in texts]
    return np.array(numbers, np.int64)[encoded.indices.to_numpy()]


def plain_of_words(table: pa.Table, kinds: Sequence[Kind], machine: Machine) -> pa.Table:
    """The plain table of words whose values the machine has."""
    import pyarrow as pa

    arrays = [_plain(table.column(position).to_numpy(), kind, machine) for position, kind in enumerate(kinds)]
    return pa.Table.from_arrays(arrays, names=column_names(len(arrays)))


def _plain(words: Any, kind: Kind, machine: Machine) -> Any:
    import pyarrow as pa

    size = machine.words.size
    if kind is Kind.NUMBER:
        return pa.array(words)
    if kind is Kind.UNSIGNED:
        return decimals(words.view(np.uint64) if size == 64 else words.astype(np.uint32).astype(np.uint64))
    if kind is Kind.FLOAT:
        return pa.array(words_as_floats(words, size))
    distinct, positions = np.unique(words, return_inverse=True)
    values = [machine.value(word, kind) for word in distinct.tolist()]
    texts = values if kind is Kind.SYMBOL else [record_text(value) for value in values]
    return text_array(texts).take(pa.array(positions))

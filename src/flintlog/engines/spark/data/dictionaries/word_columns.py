"""Converts plain columns of numbers to words, and words to plain columns: no dictionary is needed for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from flintlog.engines.spark.data.plain import decimal
from flintlog.types import Kind

if TYPE_CHECKING:
    import numpy
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame


def word_of(column: Column, kind: Kind, word_size: int) -> Column:
    """The words of plain unsigned numbers. Columns of other kinds stay as they are."""
    from pyspark.sql import functions as fn

    if kind is not Kind.UNSIGNED:
        return column
    half, whole = 1 << (word_size - 1), 1 << word_size
    signed = fn.when(column >= decimal(half), column - decimal(whole)).otherwise(column)
    return signed.cast("bigint")


def plain_of(column: Column, kind: Kind, word_size: int) -> Column:
    """The inverse of `word_of`."""
    from pyspark.sql import functions as fn

    if kind is not Kind.UNSIGNED:
        return column
    exact = column.cast("decimal(20,0)")
    return fn.when(column < 0, exact + decimal(1 << word_size)).otherwise(exact).cast("decimal(20,0)")


def floats_to_words(frame: DataFrame, kinds: Sequence[Kind], word_size: int) -> DataFrame:
    """Columns c0, c1, … with words in place of floats. All other columns are words already."""
    if Kind.FLOAT not in kinds:
        return frame
    ddl = ", ".join(f"c{position} bigint" for position in range(len(kinds)))
    return frame.mapInArrow(partial(_to_words, _floats(kinds), word_size), ddl)


def words_to_floats(frame: DataFrame, kinds: Sequence[Kind], word_size: int) -> DataFrame:
    """Columns c0, c1, … with doubles in place of the words of floats. All other columns stay words."""
    if Kind.FLOAT not in kinds:
        return frame
    ddl = ", ".join(
        f"c{position} {'double' if kind is Kind.FLOAT else 'bigint'}" for position, kind in enumerate(kinds)
    )
    return frame.mapInArrow(partial(_to_floats, _floats(kinds), word_size), ddl)


def _floats(kinds: Sequence[Kind]) -> list[int]:
    return [position for position, kind in enumerate(kinds) if kind is Kind.FLOAT]


def _to_words(floats: list[int], word_size: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for position in floats:
            words = float_words(batch.column(position).to_numpy(), word_size)
            batch = _with(batch, position, words)
        yield batch


def _to_floats(floats: list[int], word_size: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for position in floats:
            batch = _with(batch, position, words_as_floats(batch.column(position).to_numpy(), word_size))
        yield batch


def _with(batch: pa.RecordBatch, position: int, values: NDArray[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    return batch.set_column(position, f"c{position}", pa.array(values))


def float_words(values: NDArray[Any], word_size: int) -> NDArray[numpy.int64]:
    """The words of floats: their bits. All NaNs of a sign have the same word."""
    import numpy as np

    odd = np.isnan(values)
    if odd.any():
        values = np.where(odd, np.copysign(np.nan, values), values)
    if word_size == 64:
        return np.ascontiguousarray(values, np.float64).view(np.int64)
    return values.astype(np.float32).view(np.int32).astype(np.int64)


def words_as_floats(words: NDArray[numpy.int64], word_size: int) -> NDArray[numpy.float64]:
    """The inverse of `float_words`."""
    import numpy as np

    if word_size == 64:
        return np.ascontiguousarray(words).view(np.float64)
    return words.astype(np.int32).view(np.float32).astype(np.float64)

"""A dictionary as a DataFrame with the text and the number of each value.

Columns: `text`; `nested`, true for records and branches, false for symbols; `type`, by which a nested text is read;
`number`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.frames import frame_of
from flintlog.engines.spark.data.plain import narrow, record_text, text_array, texts_of
from flintlog.engines.spark.data.retained import read_anew
from flintlog.io.text_values import value_parser
from flintlog.ir.program import Relation
from flintlog.types import Kind, TypeTable, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NIL = "nil"
# The bits of Spark's own numbers that count the rows of a partition from zero.
_ROW_BITS = (1 << 33) - 1


@dataclass(frozen=True)
class Entries:
    """`size` is the number of bytes of all texts."""

    frame: DataFrame
    count: int
    size: int


def entries_of(spark: SparkSession, values: Iterable[tuple[int, Value]]) -> Entries:
    """Entries for values that are on the driver."""
    import pyarrow as pa

    numbers: list[int] = []
    texts: list[str] = []
    nested: list[bool] = []
    for number, value in values:
        numbers.append(number)
        nested.append(not isinstance(value, str))
        texts.append(value if isinstance(value, str) else record_text(value))
    columns = {
        "text": text_array(texts),
        "nested": pa.array(nested, pa.bool_()),
        "type": pa.array([""] * len(texts), pa.string()),
        "number": pa.array(numbers, pa.int64()),
    }
    return Entries(frame_of(spark, pa.table(columns)), len(texts), columns["text"].nbytes)


def distinct_entries(
    frames: Iterable[tuple[Relation, DataFrame]], known: Entries, first: int, partitions: int
) -> tuple[Entries, DataFrame]:
    """Numbers, from `first` on, for the values of plain frames that are not in `known`, and the frame to unpersist in
    the end. One job. The numbers depend on nothing but the set of values: a partition that is lost and computed again
    gets the same ones."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as fn

    texts = read_anew(_union(_texts(relation, frame) for relation, frame in frames))
    distinct = texts.groupBy("text", "nested").agg(fn.min("type").alias("type"))
    if known.count:
        constants = known.frame.select("text", "nested")
        distinct = distinct.join(fn.broadcast(constants), ["text", "nested"], "left_anti")
    kept = distinct.repartition(partitions, "text", "nested").sortWithinPartitions("text", "nested")
    kept = kept.persist(StorageLevel.MEMORY_AND_DISK)
    sizes = kept.groupBy(fn.spark_partition_id().alias("id")).agg(
        fn.count("*").alias("rows"), fn.sum(fn.octet_length("text")).alias("bytes")
    )
    rows = {row["id"]: row for row in sizes.collect()}
    offsets, total = [], first
    for partition in range(partitions):
        offsets.append(total)
        total += rows[partition]["rows"] if partition in rows else 0
    offset = fn.element_at(fn.array(*map(fn.lit, offsets)), fn.spark_partition_id() + 1).cast("bigint")
    number = offset + fn.monotonically_increasing_id().bitwiseAND(fn.lit(_ROW_BITS))
    numbered = kept.select("text", "nested", "type", number.alias("number"))
    return Entries(numbered, total - first, sum(row["bytes"] for row in rows.values())), kept


def _texts(relation: Relation, frame: DataFrame) -> DataFrame:
    """The texts of all columns of symbols, records and branches, in one pass over the rows."""
    from pyspark.sql import functions as fn

    found = [
        fn.struct(
            fn.col(f"c{position}").alias("text"),
            fn.lit(kind is not Kind.SYMBOL).alias("nested"),
            fn.lit("" if kind is Kind.SYMBOL else column.type).alias("type"),
        )
        for position, (kind, column) in enumerate(zip(relation.kinds, relation.columns, strict=True))
        if not kind.is_numeric
    ]
    texts = frame.select(fn.explode(fn.array(*found)).alias("found")).select("found.*")
    if Kind.RECORD in relation.kinds:
        # Only the empty record has this text; its word is always zero.
        texts = texts.where(~fn.col("nested") | (fn.col("text") != NIL))
    return texts


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    first, *rest = frames
    for frame in rest:
        first = first.unionByName(frame)
    return first


def numbers_joined(frame: DataFrame, position: int, kind: Kind, entries: DataFrame, is_small: bool) -> DataFrame:
    """The frame with the words of column `position` instead of its texts."""
    from pyspark.sql import functions as fn

    name = f"c{position}"
    wanted = entries.where(fn.col("nested") == (kind is not Kind.SYMBOL))
    numbers = wanted.select(fn.col("text").alias("_text"), fn.col("number").alias("_number"))
    joined = frame.join(fn.broadcast(numbers) if is_small else numbers, fn.col(name) == fn.col("_text"), "left")
    missing = fn.raise_error(fn.concat(fn.lit("a value has no number, so an input has changed: "), fn.col(name)))
    word = fn.coalesce(fn.col("_number"), missing.cast("bigint"))
    if kind is not Kind.SYMBOL:
        word = word + 1
    if kind is Kind.RECORD:
        word = fn.when(fn.col(name) == NIL, fn.lit(0).cast("bigint")).otherwise(word)
    return joined.withColumn(name, word).drop("_text", "_number")


def texts_joined(frame: DataFrame, position: int, kind: Kind, entries: DataFrame, is_small: bool) -> DataFrame:
    """The frame with the texts of column `position` instead of its words."""
    from pyspark.sql import functions as fn

    name = f"c{position}"
    first = 0 if kind is Kind.SYMBOL else 1
    texts = entries.select((fn.col("number") + first).alias("_number"), fn.col("text").alias("_text"))
    joined = frame.join(fn.broadcast(texts) if is_small else texts, fn.col(name) == fn.col("_number"), "left")
    message = fn.concat(fn.lit(f"as(…): no {kind.value} has the number "), fn.col(name).cast("string"))
    text = fn.coalesce(fn.col("_text"), fn.raise_error(message).cast("string"))
    if kind is Kind.RECORD:
        text = fn.when(fn.col(name) == 0, fn.lit(NIL)).otherwise(text)
    return joined.withColumn(name, text).drop("_text", "_number")


def collected(entries: Entries, types: TypeTable, word_size: int) -> Iterator[tuple[int, Value]]:
    """The values of entries with their numbers, in the order of the numbers."""
    table = entries.frame.toArrow().sort_by("number")
    parsers = {name: value_parser(name, types, word_size) for name in table.column("type").unique().to_pylist() if name}
    names = table.column("type").to_pylist() if parsers else [""] * table.num_rows
    texts: Sequence[str] = texts_of(narrow(table.column("text")))
    for number, text, name in zip(table.column("number").to_pylist(), texts, names, strict=True):
        yield number, parsers[name](text) if name else text

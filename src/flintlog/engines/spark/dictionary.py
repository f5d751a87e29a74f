"""Symbols, records and branches as numbers: one dictionary for all inputs of a run.

Where the inputs are on the driver, or small, the driver numbers their values. Elsewhere Spark finds the distinct ones,
numbers them part by part, and joins the numbers to the rows; nothing is hashed to a number, so nothing collides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flintlog.diagnostics import InternalError
from flintlog.engines.closures import Machine
from flintlog.engines.spark.entries import Entries, collected, numbered
from flintlog.engines.spark.frames import estimated_bytes, frame_of, known_rows, table_behind, with_known_rows
from flintlog.engines.spark.plain import places, text_array, value_text
from flintlog.engines.spark.word_columns import floats_to_words, plain_of, word_of, words_to_floats
from flintlog.engines.spark.word_tables import plain_of_words, words_of_plain
from flintlog.ir.program import Relation
from flintlog.types import Kind, TypeTable, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Frames of at most so many bytes are fetched to the driver, which numbers their values faster than jobs do.
FETCHED = 16 << 20
# A dictionary of at most so many bytes stands in every executor; with a larger one, rows are shuffled to it.
BROADCAST = 128 << 20


class Dictionary:
    """`machine` holds the constants of the program's text, which have the first numbers. `types` are needed where
    there are records or branches."""

    def __init__(self, spark: SparkSession, machine: Machine, types: TypeTable | None = None) -> None:
        self._spark, self._machine, self._types = spark, machine, types or {}
        self._entries: Entries | None = None  # values of the inputs that the machine does not have
        self._fresh: list[tuple[int, Value]] = []  # values of the run that the machine does not have
        self._known: Entries | None = None  # what the machine has, for Spark

    @property
    def size(self) -> int:
        """The first number that no value has."""
        size = len(self._machine._values)
        if self._entries is not None:
            size += self._entries.count
        return max([size, *(number + 1 for number, _ in self._fresh)])

    def encode(self, frames: Mapping[str, tuple[Relation, DataFrame]]) -> dict[str, DataFrame]:
        """Word frames of the plain frames of all inputs of a run: to be called once. Runs no job where nothing has to
        be numbered."""
        named = {name: found for name, found in frames.items() if _has_names(found[0])}
        if any(not self._is_small(frame) for _, frame in named.values()):
            return self._encoded_by_spark(frames)
        words = {name: self._encoded_here(*found) for name, found in named.items()}
        plain = {name: self._cast(*found) for name, found in frames.items() if name not in named}
        return {name: words[name] if name in words else plain[name] for name in frames}

    def decode(self, relation: Relation, words: DataFrame) -> DataFrame:
        """The plain frame of a word frame."""
        kinds, names = relation.kinds, [column.name for column in relation.columns]
        if not names:
            return words
        table = table_behind(words)
        if table is not None and (self._entries is None or not _has_names(relation)):
            return frame_of(self._spark, plain_of_words(table, kinds, self._machine), names)
        frame = words_to_floats(words, kinds, self._machine.words.size)
        if _has_names(relation):
            for entries in self._for_spark():
                frame = entries
            frame = self._joined_texts(frame, kinds)
        columns = [plain_of(frame[f"c{i}"], kind, self._machine.words.size) for i, kind in enumerate(kinds)]
        return frame.select(*columns).toDF(*names)

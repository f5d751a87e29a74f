"""Numbers symbols, records and branches: one dictionary for all inputs of a run.

If the inputs are on the driver, or small, the driver numbers their values. Otherwise Spark finds the distinct values,
numbers them partition by partition, and joins the numbers to the rows. No number is a hash, so no two values collide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from flintlog.diagnostics import InternalError
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.data.dictionaries.entries import (
    Entries,
    collected,
    distinct_entries,
    entries_of,
    numbers_joined,
    texts_joined,
)
from flintlog.engines.spark.data.dictionaries.word_columns import floats_to_words, plain_of, word_of, words_to_floats
from flintlog.engines.spark.data.dictionaries.word_tables import plain_of_words, words_of_plain
from flintlog.engines.spark.data.frames import (
    estimated_bytes,
    frame_of,
    known_rows,
    made,
    promised_frame_of,
    table_behind,
    with_known_rows,
)
from flintlog.engines.spark.data.plain import by_position
from flintlog.engines.spark.data.retained import release, unpersist_with
from flintlog.ir.program import Relation
from flintlog.types import TypeTable, Value

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

# Frames of at most so many bytes are fetched to the driver, which numbers their values faster than jobs do.
FETCHED = 16 << 20
# An estimate, for frames of unknown size.
_BYTES_A_VALUE = 64
_BYTES_A_PARTITION = 16 << 20
# A dictionary of at most so many bytes is broadcast to executors; for a larger one, rows are shuffled.
BROADCAST = 64 << 20


class Dictionary:
    """`machine` holds the constants of the program's text, which have the first numbers. `types` are needed where
    there are records or branches."""

    def __init__(self, spark: SparkSession, machine: Machine, types: TypeTable | None = None) -> None:
        self._spark, self._machine, self._types = spark, machine, types or {}
        self._first = len(machine.known)
        self._spread: Entries | None = None  # values of the inputs that Spark has numbered, from `_first` on
        self._is_whole = True  # whether the machine has every value
        self._fresh: list[tuple[int, Value]] = []  # values of the run that wait until the machine is whole
        self._here: tuple[int, Entries] | None = None

    @property
    def size(self) -> int:
        """The next number: no value has it or a higher one."""
        size = len(self._machine.known)
        if self._spread is not None and not self._is_whole:
            size += self._spread.count
        return max([size, *(number + 1 for number, _ in self._fresh)])

    def encode(self, frames: Mapping[str, tuple[Relation, DataFrame]]) -> dict[str, DataFrame]:
        """The word frames for the plain frames of all inputs of a run. To be called once. Runs no job for frames
        without symbols, records and branches: they are cast."""
        self._first = len(self._machine.known)
        named = {name: found for name, found in frames.items() if _has_texts(found[0])}
        if named and not all(_is_small(frame) for _, frame in named.values()):
            self._number(named.values())
        words: dict[str, DataFrame] = {}
        for name, (relation, frame) in frames.items():
            table = table_behind(frame) if name not in named else _fetched(frame) if self._spread is None else None
            if table is not None:
                words[name] = promised_frame_of(self._spark, self._words(relation, table))
            else:
                words[name] = with_known_rows(self._encoded_by_spark(relation, made(frame)), known_rows(frame))
        return words

    def decode(self, relation: Relation, words: DataFrame) -> DataFrame:
        """The plain frame for a word frame."""
        kinds, names = relation.kinds, [column.name for column in relation.columns]
        if not names:
            return made(words)
        table = table_behind(words)
        if table is not None and (self._is_whole or not _has_texts(relation)):
            return frame_of(self._spark, plain_of_words(table, kinds, self._machine), names)
        size = self._machine.words.size
        frame = words_to_floats(by_position(words), kinds, size)
        frame = frame.select(*(plain_of(frame[f"c{i}"], kind, size).alias(f"c{i}") for i, kind in enumerate(kinds)))
        if _has_texts(relation):
            entries, is_small = self._entries()
            for position, kind in enumerate(kinds):
                if not kind.is_numeric:
                    frame = texts_joined(frame, position, kind, entries, is_small)
        return with_known_rows(frame.toDF(*names), known_rows(words))

    def machine(self) -> Machine:
        """The machine with every value. The first call fetches the values that Spark has numbered."""
        if not self._is_whole:
            assert self._spread is not None
            if len(self._machine.known) != self._first:
                raise InternalError("dictionary", "values were numbered without those of the inputs")
            self._is_whole = True
            for number, value in collected(self._spread, self._types, self._machine.words.size):
                self._machine.known.learn(number, value)
            waiting, self._fresh = self._fresh, []
            self.add(waiting)
        return self._machine

    def add(self, fresh: Sequence[tuple[int, Value]]) -> None:
        """Adds values that evaluation made, with their numbers."""
        if not self._is_whole:
            self._fresh += fresh
            return
        for number, value in sorted(fresh, key=lambda entry: entry[0]):
            self._machine.known.learn(number, value)

    def close(self) -> None:
        """Unpersists the dictionary's frames. Happens by itself when the dictionary is collected."""
        release(self)

    def _number(self, named: Iterable[tuple[Relation, DataFrame]]) -> None:
        """Has Spark number all values of plain frames, in one job."""
        constants = entries_of(self._spark, enumerate(self._machine.known.values))
        found = [(relation, by_position(frame)) for relation, frame in named]
        partitions = _partitions(self._spark, [frame for _, frame in found])
        self._spread, persisted = distinct_entries(found, constants, self._first, partitions)
        unpersist_with(self, persisted)
        self._is_whole = False

    def _words(self, relation: Relation, plain: pa.Table) -> pa.Table:
        if not relation.columns:
            return plain
        return words_of_plain(plain, relation.columns, relation.kinds, self._machine, self._types)

    def _encoded_by_spark(self, relation: Relation, plain: DataFrame) -> DataFrame:
        kinds, size = relation.kinds, self._machine.words.size
        frame = by_position(plain)
        if not kinds:
            return frame
        if _has_texts(relation):
            entries, is_small = self._entries()
            for position, kind in enumerate(kinds):
                if not kind.is_numeric:
                    frame = numbers_joined(frame, position, kind, entries, is_small)
        frame = frame.select(*(word_of(frame[f"c{i}"], kind, size).alias(f"c{i}") for i, kind in enumerate(kinds)))
        return floats_to_words(frame, kinds, size)

    def _entries(self) -> tuple[DataFrame, bool]:
        """All entries for Spark, and whether they may stand in every executor."""
        values = self._machine.known.values
        inputs = self._spread.count if self._spread is not None else 0
        known = len(values) + len(self._fresh)
        if self._here is None or self._here[0] != known:
            # Values that Spark has numbered are in its own entries, even if the machine has them too.
            after = self._first + (inputs if self._is_whole else 0)
            pairs = [*enumerate(values[: self._first]), *enumerate(values[after:], after), *self._fresh]
            self._here = known, entries_of(self._spark, pairs)
        here = self._here[1]
        if self._spread is None:
            return here.frame, here.size <= BROADCAST
        return self._spread.frame.union(here.frame), here.size + self._spread.size <= BROADCAST


def _has_texts(relation: Relation) -> bool:
    return not all(kind.is_numeric for kind in relation.kinds)


def _is_small(frame: DataFrame) -> bool:
    if table_behind(frame) is not None:
        return True
    size, rows = estimated_bytes(frame), known_rows(frame)
    if size is None and rows is not None:
        size = rows * len(frame.columns) * _BYTES_A_VALUE
    return size is not None and size <= FETCHED


def _fetched(frame: DataFrame) -> pa.Table:
    table = table_behind(frame)
    return frame.toArrow() if table is None else table


def _partitions(spark: SparkSession, frames: Sequence[DataFrame]) -> int:
    """The number of partitions in which values are numbered: that of the session's shuffles, or fewer for few bytes."""
    most = int(spark.conf.get("spark.sql.shuffle.partitions") or 200)
    sizes = [estimated_bytes(frame) for frame in frames]
    if None in sizes:
        return most
    return min(most, 1 + sum(size or 0 for size in sizes) // _BYTES_A_PARTITION)

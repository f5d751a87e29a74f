"""Relations of a result: frames that are fetched when somebody looks at their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.data.dictionaries.dictionary import Dictionary
from flintlog.engines.spark.data.dictionaries.word_tables import words_of_plain
from flintlog.engines.spark.data.frames import made, table_behind
from flintlog.engines.spark.data.ingest import plain_from_rows
from flintlog.engines.spark.data.sinks import write_sink
from flintlog.engines.spark.failures import explained
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.ir.program import IoDirective, Relation
from flintlog.ir.words import Words
from flintlog.types import Kind, Row, TypeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLAIN = {Kind.NUMBER: np.int64, Kind.UNSIGNED: np.uint64, Kind.FLOAT: np.float64}


class SparkRows(Collection[Row]):
    """The rows of one relation, of which `words` is None if only their number was asked for."""

    def __init__(
        self,
        spark: SparkSession,
        relation: Relation,
        words: DataFrame | None,
        size: int | None,
        dictionary: Dictionary,
        types: TypeTable,
        word_size: int,
    ) -> None:
        self._spark, self._relation, self._types, self._word_size = spark, relation, types, word_size
        self._words, self._size, self._dictionary = words, size, dictionary

    def frame(self) -> DataFrame:
        """A frame with the relation's columns."""
        assert self._words is not None, "only the number of rows was asked for"
        return self._dictionary.decode(self._relation, self._words)

    def write_to(self, directive: IoDirective, output_dir: Path | str) -> bool:
        """Lets Spark write the rows, if it can; False if they are to be written here."""
        with explained(self._relation.name, "results"):
            how = self._types, self._word_size
            return write_sink(self._spark, self._relation, self.frame(), directive, output_dir, *how)

    def __len__(self) -> int:
        if self._size is None:
            assert self._words is not None
            with explained(self._relation.name, "results"):
                self._size = self._words.count()
        return self._size

    def __iter__(self) -> Iterator[Row]:
        kinds = self._relation.kinds
        if not kinds:
            return iter([()] * len(self))
        plain = all(kind is Kind.NUMBER for kind in kinds)
        machine = None if plain else self._dictionary.machine()
        columns = []
        for words, kind in zip(self._columns, kinds, strict=True):
            if kind is Kind.NUMBER:
                columns.append(words.tolist())
            else:
                assert machine is not None
                columns.append([machine.value(word, kind) for word in words.tolist()])
        return iter(zip(*columns, strict=True))

    def __contains__(self, row: object) -> bool:
        return any(row == known for known in self)

    def as_columns(self) -> ColumnFacts | None:
        """The rows as columns of plain values; None if there are others among them."""
        kinds = self._relation.kinds
        if not kinds or not set(kinds) <= {*_PLAIN, Kind.SYMBOL} or self._word_size != 64:
            return None
        columns: list[object] = []
        for words, kind in zip(self._columns, kinds, strict=True):
            if kind is Kind.SYMBOL:
                numbers, positions = np.unique(words, return_inverse=True)
                machine = self._dictionary.machine()
                columns.append(Symbols(positions, [machine.value(number, kind) for number in numbers.tolist()]))
            else:
                columns.append(words.view(_PLAIN[kind]))
        return ColumnFacts(tuple(columns), len(self._columns[0]))

    @cached_property
    def _columns(self) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
        assert self._words is not None, "only the number of rows was asked for"
        table = table_behind(self._words)
        if table is None:
            with explained(self._relation.name, "results"):
                table = self._words.toArrow()
        return [column.to_numpy() for column in table.columns]


class DriverRows(Collection[Row]):
    """Rows that the driver has computed."""

    def __init__(self, spark: SparkSession, relation: Relation, types: TypeTable, rows: Collection[Row]) -> None:
        self._spark, self._relation, self._types, self._rows = spark, relation, types, rows

    def frame(self) -> DataFrame:
        return made(plain_from_rows(self._spark, self._relation, self._rows, self._types))

    def write_to(self, directive: IoDirective, output_dir: Path | str) -> bool:
        return write_sink(self._spark, self._relation, self.frame(), directive, output_dir, self._types)

    def as_columns(self) -> ColumnFacts | None:
        columns = getattr(self._rows, "as_columns", None)
        return columns() if columns is not None else None

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows


def rows_of_plain(relation: Relation, frame: DataFrame, types: TypeTable, word_size: int) -> list[Row]:
    """The rows of a plain frame as Python values, in the order in which the source has them."""
    machine = Machine(Words(word_size), {}, lambda message, span: None)
    table = table_behind(frame)
    words = words_of_plain(
        frame.toArrow() if table is None else table, relation.columns, relation.kinds, machine, types
    )
    columns = [
        [machine.value(word, kind) for word in column.to_pylist()]
        for column, kind in zip(words.columns, relation.kinds, strict=False)
    ]
    return list(zip(*columns, strict=True)) if relation.kinds else [()] * min(1, words.num_rows)

"""Facts as columns: the form in which millions of rows come in and go out.

`read_columns` reads in bulk what is plainly right. Whatever a format's bulk reader does not take just as the careful
one would (blanks, signs, odd layouts, any mistake) is left to that one, which also says what is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintlog.diagnostics import FlintlogError
from flintlog.io.packed import DamagedFile, unpacked
from flintlog.io.parameters import data_path, dialect, relation_name
from flintlog.io.schema import Schema
from flintlog.types import Field, Kind, Row, TypeTable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

# A file of fewer bytes is read row by row in less time than numpy and Arrow take to load; once they are loaded, one of
# a tenth.
SMALL = 500_000


@dataclass(frozen=True, eq=False)
class Symbols:
    """A column of symbols: for each row a position among the distinct texts."""

    positions: NDArray[numpy.int64]
    texts: list[str]

    def tolist(self) -> list[str]:
        return list(map(self.texts.__getitem__, self.positions.tolist()))

    def __getitem__(self, rows: slice) -> Symbols:
        return Symbols(self.positions[rows], self.texts)


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """Rows in columns: arrays of int64 for numbers, uint64 for unsigned ones, float64 for floats, or Symbols.
    Iterates over rows of Python values."""

    columns: tuple[Any, ...]
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Row]:
        return iter(zip(*(column.tolist() for column in self.columns), strict=True))


def read_columns(
    relation: str,
    columns: Sequence[Field],
    params: Mapping[str, str],
    types: TypeTable,
    facts_dir: Path,
    word_size: int = 64,
) -> ColumnFacts | None:
    """The facts of an .input directive; None if they have to be read carefully. Floats are numbers, all of
    them. With words of 32 bits there are only numbers and symbols: the word of another value is then not the one that
    stands in a column here."""
    schema = Schema(relation_name(relation, params), columns, types, word_size)
    reader = _READERS.get(params.get("IO", "file"))
    if not columns or reader is None or not set(schema.kinds()) <= _PLAIN[word_size]:
        return None
    try:
        return reader(relation, params, facts_dir, schema)
    except (FlintlogError, DamagedFile, OSError):
        return None


_PLAIN = {32: {Kind.NUMBER, Kind.SYMBOL}, 64: {Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL}}


def _is_small(size: int) -> bool:
    return size < (SMALL // 10 if "pyarrow" in sys.modules else SMALL)


def _large_file(path: Path) -> bytes | None:
    """What is in the file, unpacked, unless that is little."""
    # Facts that are packed to a tenth of their size, or less, would be odd.
    if not path.is_file() or _is_small(path.stat().st_size * 10):
        return None
    data = unpacked(path.read_bytes())
    return None if _is_small(len(data)) else data


def _delimited(relation: str, params: Mapping[str, str], facts_dir: Path, schema: Schema) -> ColumnFacts | None:
    layout = dialect(params, len(schema.columns))
    data = _large_file(data_path(relation, params, facts_dir, ".facts"))
    if data is None:
        return None
    from flintlog.io.formats.delimited_columns import read_delimited_columns

    return read_delimited_columns(data, schema, layout)


def _json(relation: str, params: Mapping[str, str], facts_dir: Path, schema: Schema) -> ColumnFacts | None:
    data = _large_file(data_path(relation, params, facts_dir, ".json"))
    if data is None:
        return None
    from flintlog.io.formats.json_columns import read_json_columns

    return read_json_columns(data, schema)


def _sqlite(relation: str, params: Mapping[str, str], facts_dir: Path, schema: Schema) -> ColumnFacts | None:
    from flintlog.io.formats.sqlite import database_name

    database = database_name(relation, params, facts_dir)
    path = Path(database)
    if database.startswith(("file:", ":memory:")) or not path.is_file() or _is_small(path.stat().st_size):
        return None
    from flintlog.io.formats.sqlite_columns import read_sqlite_columns

    return read_sqlite_columns(database, schema)


def _parquet(relation: str, params: Mapping[str, str], facts_dir: Path, schema: Schema) -> ColumnFacts | None:
    # Whatever its size: nothing but Arrow reads such a file.
    from flintlog.io.formats.table_columns import read_parquet_columns

    return read_parquet_columns(data_path(relation, params, facts_dir, ".parquet"), schema)


def _arrow(relation: str, params: Mapping[str, str], facts_dir: Path, schema: Schema) -> ColumnFacts | None:
    from flintlog.io.formats.table_columns import read_arrow_columns

    return read_arrow_columns(data_path(relation, params, facts_dir, ".arrow"), schema)


_READERS: dict[str, Callable[[str, Mapping[str, str], Path, Schema], ColumnFacts | None]] = {
    "file": _delimited,
    "csv": _delimited,
    "json": _json,
    "jsonfile": _json,
    "sqlite": _sqlite,
    "parquet": _parquet,
    "arrow": _arrow,
}

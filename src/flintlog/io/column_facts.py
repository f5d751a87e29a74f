"""Facts as columns, read and written by Arrow: the fast way for plain delimited files of numbers, floats and symbols.

What Arrow does not read just as the careful reader would (signs, blanks, too many columns, any mistake) is left to that
one: `read_columns` then gives None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flintlog.io.parameters import BadParameter, data_path, dialect
from flintlog.types import Field, Kind, Row, ScalarType, TypeTable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

# A file of fewer bytes is read before Arrow is loaded.
SMALL = 200_000

_ARROW = {Kind.NUMBER: "int64", Kind.UNSIGNED: "uint64", Kind.FLOAT: "float64"}


@dataclass(frozen=True, eq=False)
class Symbols:
    """A column of symbols: for each row a position among the distinct texts."""

    positions: NDArray[numpy.int64]
    texts: list[str]

    def tolist(self) -> list[str]:
        return [self.texts[position] for position in self.positions.tolist()]


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """Rows in columns: arrays of numbers or floats, or Symbols. Iterates over rows of Python values."""

    columns: tuple[Any, ...]
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Row]:
        return iter(zip(*(column.tolist() for column in self.columns), strict=True))


def read_columns(
    relation: str, columns: Sequence[Field], params: Mapping[str, str], types: TypeTable, facts_dir: Path
) -> ColumnFacts | None:
    """The facts of a delimited file of 64-bit words; None if they have to be read carefully."""
    kinds = [_plain_kind(types[field.type]) for field in columns]
    if not columns or None in kinds or params.get("IO", "file") not in ("file", "csv") or "compress" in params:
        return None
    try:
        form = dialect(params, len(columns))
    except BadParameter:
        return None
    path = data_path(relation, params, facts_dir, ".facts")
    if form.rfc4180 or form.headers or form.chosen or not path.is_file() or path.stat().st_size < SMALL:
        return None
    if len(form.delimiter) != 1 or not 0 < ord(form.delimiter) < 128:
        return None
    return _read(path, form.delimiter, [kind for kind in kinds if kind is not None])


def write_columns(stream: BinaryIO, facts: ColumnFacts, delimiter: str) -> bool:
    """Writes rows of numbers and symbols as delimited text, in order. Writes nothing and returns False where a symbol
    holds what Arrow would have to quote."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    ranks, arrays = [], []
    for column in facts.columns:
        if isinstance(column, Symbols):
            order = sorted(range(len(column.texts)), key=column.texts.__getitem__)
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            ranks.append(rank[column.positions])
            arrays.append(pa.array(column.texts, pa.string()).take(pa.array(column.positions)))
        else:
            ranks.append(column)
            arrays.append(pa.array(column))
    table = pa.table(arrays, names=[str(i) for i in range(len(arrays))]).take(pa.array(np.lexsort(ranks[::-1])))
    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    try:
        sink = pa.BufferOutputStream()
        csv.write_csv(table, sink, options)
    except pa.ArrowInvalid:
        return False
    stream.write(sink.getvalue())
    return True


def _plain_kind(definition: object) -> Kind | None:
    plain = isinstance(definition, ScalarType) and definition.bits in (None, 64)
    return definition.kind if plain and isinstance(definition, ScalarType) else None


def _read(path: Path, delimiter: str, kinds: Sequence[Kind]) -> ColumnFacts | None:
    import pyarrow as pa
    from pyarrow import csv

    data = path.read_bytes()
    # Arrow would drop a carriage return, an empty line or a byte order mark.
    if not data or b"\r" in data or b"\n\n" in data or data.startswith((b"\n", b"\xef\xbb\xbf")):
        return None
    # It would take hexadecimal numbers, and blanks after a number.
    if _numeric(kinds) and (b"x" in data or _has_blank_ends(data, delimiter.encode())):
        return None
    names = [str(i) for i in range(len(kinds))]
    text = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.type_for_alias(_ARROW[k]) if k in _ARROW else text for name, k in zip(names, kinds, strict=True)}
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False, newlines_in_values=False),
            csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    columns = tuple(_column(table.column(name), k) for name, k in zip(names, kinds, strict=True))
    if not all(_plain_floats(column) for column, kind in zip(columns, kinds, strict=True) if kind is Kind.FLOAT):
        return None
    return ColumnFacts(columns, len(table))


def _numeric(kinds: Sequence[Kind]) -> bool:
    return any(kind is not Kind.SYMBOL for kind in kinds)


def _has_blank_ends(data: bytes, delimiter: bytes) -> bool:
    """Whether some value ends with a blank, which Arrow would not mind."""
    return any(
        blank != delimiter and (blank + delimiter in data or blank + b"\n" in data or data.endswith(blank))
        for blank in (b" ", b"\t")
    )


def _plain_floats(column: NDArray[numpy.float64]) -> bool:
    """Whether all have a value, and all of its digits: what is too large or too small for that is a mistake."""
    import numpy as np

    size = np.abs(column)
    return bool(np.all(np.isfinite(column) & ((size == 0) | (size >= np.finfo(np.float64).tiny))))


def _column(column: Any, kind: Kind) -> Any:
    import numpy as np

    if kind is not Kind.SYMBOL:
        return column.to_numpy()
    unified = column.unify_dictionaries().combine_chunks()
    chunks = unified.chunks if hasattr(unified, "chunks") else [unified]
    positions = [chunk.indices.to_numpy(zero_copy_only=False).astype(np.int64) for chunk in chunks]
    return Symbols(np.concatenate(positions), chunks[0].dictionary.to_pylist())

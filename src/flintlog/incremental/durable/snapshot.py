"""A snapshot: a folder with the program's text, the numbered values, and an Arrow file for each relation.

The file of a relation has its columns of words, and for each row its round, the number of derivations in that round (-1
if unknown) and whether the row is a fact. The manifest has the checksums of all files.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flintlog.engines.numbered_values import NumberedValues
from flintlog.incremental.durable.journal import Damaged, from_json, in_json
from flintlog.incremental.durable.nested_values import PartsWriter, known_parts, value_of_word
from flintlog.incremental.rows.maintained_relation import MaintainedRelation, StoredRows
from flintlog.types import Value

PROGRAM, VALUES, PARTS = "program.dl", "values.arrow", "parts.arrow"


@dataclass(frozen=True)
class Snapshot:
    program: str
    values: list[Value]
    relations: dict[str, StoredRows]


def write_snapshot(
    folder: Path, program: str, values: NumberedValues, kept: Mapping[str, MaintainedRelation]
) -> dict[str, dict[str, Any]]:
    """Writes a snapshot to disk; returns the size and the checksum of each file, by name."""
    folder.mkdir(parents=True)
    files = {PROGRAM: _write(folder / PROGRAM, program.encode("utf-8", "surrogatepass"))}
    values_table, parts_table = _values_tables(values.values)
    files[VALUES] = _write(folder / VALUES, _arrow(values_table))
    files[PARTS] = _write(folder / PARTS, _arrow(parts_table))
    for number, (name, relation) in enumerate(sorted(kept.items())):
        file = f"{number:04}.arrow"
        files[file] = {**_write(folder / file, _arrow(_rows_table(relation))), "relation": name}
    sync_folder(folder)
    return files


def read_snapshot(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> Snapshot:
    """Reads a snapshot. Raises Damaged if a file differs from the one that was written."""
    content = {name: _read(folder / name, facts) for name, facts in files.items()}
    if not content.keys() >= {PROGRAM, VALUES}:
        raise Damaged(f"`{folder}` is incomplete")
    relations = {str(facts["relation"]): _rows(content[name]) for name, facts in files.items() if "relation" in facts}
    return Snapshot(
        content[PROGRAM].decode("utf-8", "surrogatepass"), _values(content[VALUES], content.get(PARTS)), relations
    )


def sync_folder(folder: Path) -> None:
    """Writes the names of a folder's files to disk."""
    with _opened(folder) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes) -> dict[str, Any]:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return {"size": len(content), "crc32": zlib.crc32(content)}


def _read(path: Path, facts: Mapping[str, Any]) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Damaged(f"`{path}` cannot be read: {error.strerror}") from error
    if len(content) != facts["size"] or zlib.crc32(content) != facts["crc32"]:
        raise Damaged(f"`{path}` was changed after it was written")
    return content


def _arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _values_tables(values: Sequence[Value]) -> tuple[pa.Table, pa.Table]:
    """The values, symbols as bytes and others as JSON; and the table of the parts to which their JSON refers."""
    writer = PartsWriter()
    texts = np.array([isinstance(value, str) for value in values], np.bool_)
    spelled = [
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else in_json(writer.word(value))
        for value in values
    ]
    parts = pa.table({"part": _bytes_column(list(map(in_json, writer.parts)))})
    return pa.table({"text": _column(texts), "value": _bytes_column(spelled)}), parts


def _bytes_column(spelled: Sequence[bytes]) -> pa.Array:
    ends = np.cumsum([0, *map(len, spelled)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(spelled))]
    return pa.Array.from_buffers(pa.large_binary(), len(spelled), buffers)


def _values(content: bytes, parts: bytes | None) -> list[Value]:
    """The values of both tables; snapshots of format 1 have no parts."""
    table = pa.ipc.open_file(content).read_all()
    known = known_parts(map(from_json, pa.ipc.open_file(parts).read_all()["part"].to_pylist()) if parts else ())
    pairs = zip(table["text"].to_pylist(), table["value"].to_pylist(), strict=True)
    return [
        v.decode("utf-8", "surrogatepass") if is_text else value_of_word(from_json(v), known) for is_text, v in pairs
    ]


def _rows_table(kept: MaintainedRelation) -> pa.Table:
    rows = kept.stored()
    columns: dict[str, NDArray[Any]] = {f"c{i}": column for i, column in enumerate(rows.columns)}
    columns |= {"round": rows.rounds, "count": rows.counts, "given": rows.given}
    return pa.table({name: _column(column) for name, column in columns.items()})


def _column(values: NDArray[Any]) -> pa.Array:
    """The values as an Arrow array. Not by `pa.array`: it imports pandas, which takes longer than creating a small
    database."""
    if values.dtype == np.bool_:
        bits = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), values.size, [None, pa.py_buffer(bits)])
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, buffer])


def _rows(content: bytes) -> StoredRows:
    table = pa.ipc.open_file(content).read_all()
    arrays = {name: _values_of(table[name]) for name in table.column_names}
    rounds, counts, given = (arrays.pop(name) for name in ("round", "count", "given"))
    return StoredRows(list(arrays.values()), rounds, counts, given)


def _values_of(column: pa.ChunkedArray) -> NDArray[Any]:
    """The values given to `_column`. Not by `to_numpy`: it imports pandas, too."""
    parts = [_values_in(chunk) for chunk in column.chunks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, column.type.to_pandas_dtype()), *parts])


def _values_in(chunk: pa.Array) -> NDArray[Any]:
    content, end = chunk.buffers()[1], chunk.offset + len(chunk)
    if chunk.type == pa.bool_():
        bits = np.frombuffer(content, np.uint8)
        return np.unpackbits(bits, count=end, bitorder="little")[chunk.offset :].astype(np.bool_)
    return np.frombuffer(content, chunk.type.to_pandas_dtype(), end)[chunk.offset :]

"""The log of changes: what every transaction since the last snapshot was told, each with a checksum.

A transaction is committed when its record is on disk, whole. What comes after the last whole record is of one that was
cut off, and is taken away before the next. The file begins with `BEGIN`, so that an emptied one is not taken for one
without changes.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from itertools import chain
from math import copysign
from pathlib import Path
from typing import Any

from flintlog.types import NAN, NEGATIVE_NAN, Adt, Row, Value

_HEAD = struct.Struct("<QI")  # length and checksum of what follows
_CHECKSUM = struct.Struct("<I")  # of the head
_START = _HEAD.size + _CHECKSUM.size
BEGIN = b"flintlog journal"


class Damaged(Exception):
    """A file is not what was written."""


@dataclass
class Change:
    """What a transaction was told: facts that go, facts that come, and the program's text if that is another."""

    epoch: int
    deleted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    inserted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    program: str | None = None


class Journal:
    """A file of changes that grows at its end. Only one process appends to it, and only through one object. Those that
    were made before there was a `begin` have none."""

    def __init__(self, path: Path, begin: bytes = BEGIN) -> None:
        self.path, self._begin = path, begin
        self._stream: FileIO | None = None  # of who appends
        self.cut_off = 0
        self._end: int | None = None  # of what is whole, once that was looked at

    def create(self) -> None:
        self._stream = self.path.open("xb", buffering=0)
        try:
            _write_all(self._stream, self._begin)
            os.fsync(self._stream.fileno())
        except OSError:
            self.close()
            raise
        self._end = len(self._begin)

    def changes(self) -> list[Change]:
        """All that was committed. `cut_off` says how many bytes there are after that."""
        size = self.path.stat().st_size  # before: a writer may add to it meanwhile
        records = list(self._records())
        self.cut_off = max(0, size - (records[-1][1] if records else len(self._begin)))
        return [_change(payload) for payload, _ in records]

    def append(self, change: Change) -> None:
        """Commits a change: it is on disk when this returns."""
        if self._end is None:
            self._end = max((end for _, end in self._records()), default=len(self._begin))
        payload = _payload(change)
        head = _HEAD.pack(len(payload), zlib.crc32(payload))
        record = head + _CHECKSUM.pack(zlib.crc32(head)) + payload
        stream = self._opened()
        stream.seek(self._end)
        try:
            _write_all(stream, record)
            os.fsync(stream.fileno())
        except OSError:
            stream.truncate(self._end)  # so that what was not promised is not found
            raise
        self._end += len(record)

    def _opened(self) -> FileIO:
        """The file to append to, without what is not whole. Raises OSError if somebody has removed it."""
        if self._stream is None:
            self._stream = self.path.open("r+b", buffering=0)
        found = os.fstat(self._stream.fileno())
        if found.st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        if found.st_size != self._end:
            self._stream.truncate(self._end)
        return self._stream

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def size(self) -> int:
        """Of what is whole, for who appends."""
        return self._end or 0

    def _records(self) -> Iterator[tuple[bytes, int]]:
        """Every whole record, and where it ends. Raises Damaged if one that is not whole is not the last."""
        with self.path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if stream.read(len(self._begin)) != self._begin:
                raise Damaged(f"`{self.path}` is not what was written")
            while len(start := stream.read(_START)) == _START:
                head, [checked] = start[: _HEAD.size], _CHECKSUM.unpack(start[_HEAD.size :])
                if zlib.crc32(head) != checked:
                    if any(start) or any(stream.read()):  # zeros are room that was made for a record, and never filled
                        raise Damaged(f"`{self.path}` is not what was written")
                    return
                length, checksum = _HEAD.unpack(head)
                payload = stream.read(length)
                if len(payload) != length or zlib.crc32(payload) != checksum:
                    if stream.tell() < size:
                        raise Damaged(f"`{self.path}` is not what was written")
                    return
                yield payload, stream.tell()


def _write_all(stream: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]


def _payload(change: Change) -> bytes:
    table = {
        "epoch": change.epoch,
        "deleted": {name: _in_json(rows) for name, rows in change.deleted.items()},
        "inserted": {name: _in_json(rows) for name, rows in change.inserted.items()},
        "program": change.program,
    }
    return json.dumps(table, separators=(",", ":")).encode("ascii")


def _change(payload: bytes) -> Change:
    table = json.loads(payload)
    for key in ("deleted", "inserted"):
        table[key] = {name: _from_json(rows) for name, rows in table[key].items()}
    return Change(**table)


def _in_json(rows: Sequence[Row]) -> Sequence[Sequence[Any]]:
    return rows if _are_simple(rows) else [list(map(plain, row)) for row in rows]


def _from_json(rows: Sequence[Sequence[Any]]) -> list[Row]:
    return list(map(tuple, rows)) if _are_simple(rows) else [tuple(map(value_of, row)) for row in rows]


def _are_simple(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether JSON has all values as they are."""
    return set(map(type, chain.from_iterable(rows))) <= {str, int}


def plain(value: Value) -> Any:
    """A value in the words of JSON."""
    if isinstance(value, Adt):
        return {"branch": value.branch, "of": [plain(part) for part in value.args]}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and value != value:
        return {"nan": copysign(1, value)}
    return value


def value_of(plain: Any) -> Value:
    if isinstance(plain, dict):
        if "nan" in plain:
            return NAN if plain["nan"] > 0 else NEGATIVE_NAN
        return Adt(plain["branch"], tuple(value_of(part) for part in plain["of"]))
    if isinstance(plain, list):
        return tuple(value_of(part) for part in plain)
    value: Value = plain
    return value

"""The journal: a file with one record, and its checksum, for each transaction since the last snapshot.

A transaction is committed when its record is on disk as a whole. After the last whole record there may be a part of a
record, which is removed before the next commit, or zeros: space reserved by an earlier commit, because writing to disk
is faster while the file's length stays the same. The file begins with `BEGIN`, so that an emptied file is not taken for
a journal without transactions.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO, FileIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from flintlog.incremental.durable.nested_values import PartsWriter, known_parts, value_of_word
from flintlog.types import Row, Value

_HEAD = struct.Struct("<QI")  # length and checksum of the payload
_CHECKSUM = struct.Struct("<I")  # of the head
_START = _HEAD.size + _CHECKSUM.size
BEGIN = b"flintlog journal"
_FIRST = b'{"epoch":'  # the beginning of every payload
# The least and the greatest number of bytes to reserve.
_LEAST_ROOM, _MOST_ROOM = 1 << 16, 1 << 20
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Writes content and length of a file to disk, but not its times, if the system offers that.
_sync = getattr(os, "fdatasync", os.fsync)


class Damaged(Exception):
    """A file differs from the one that was written."""


class Doubtful(OSError):
    """Writing a record failed, and so did removing it: the transaction may be committed."""


class Replaced(Exception):
    """The directory has another file than the open one, or another process has written to the file."""


@dataclass
class Change:
    """A transaction: the facts that it deletes and inserts, and the program's text if it changes."""

    epoch: int
    deleted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    inserted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    program: str | None = None


class Journal:
    """A journal file. Only one process appends to it, through one object. The first bytes are `begin`: older journals
    have none."""

    def __init__(self, path: Path, begin: bytes = BEGIN) -> None:
        self.path, self._begin = path, begin
        self._stream: FileIO | None = None  # open once this object has appended
        self.cut_off = 0
        self._end: int | None = None  # of the last whole record, once it was read
        # Where the reserved zeros, and the file, end; None if there may be anything but zeros after the last record.
        self._room: int | None = None
        # The file's inode, and the position and beginning of its last record, to notice that the file was replaced.
        self._inode_before: int | None = None
        self._last = 0, begin

    def create(self) -> None:
        self._stream = self.path.open("x+b", buffering=0)
        self._end = len(self._begin)
        try:
            self._room = _write_all(self._stream, self._begin + bytes(_LEAST_ROOM))
            os.fsync(self._stream.fileno())
            self._inode_before = self._inode()
        except OSError:
            self.close()
            raise

    def changes(self) -> list[Change]:
        """The committed transactions. Sets `cut_off` to the number of bytes after them that are not reserved zeros."""
        return [_change(payload) for payload, _ in self._records()]

    def append(self, change: Change) -> None:
        """Commits a change: it is on disk when this returns. Raises Replaced; Doubtful if the change may be committed;
        another OSError if it is not."""
        payload = _payload(change)
        head = _HEAD.pack(len(payload), zlib.crc32(payload))
        record = head + _CHECKSUM.pack(zlib.crc32(head)) + payload
        stream, end = self._opened()
        room, self._room = self._room, None
        stream.seek(end)
        try:
            if room is not None and end + len(record) <= room:
                _write_all(stream, record)
            else:
                room = end + _write_with_room(stream, record, min(max(_LEAST_ROOM, end), _MOST_ROOM))
            _sync(stream.fileno())
        except OSError as error:
            try:
                stream.truncate(end)  # else a later reader would find a transaction that failed
                os.fsync(stream.fileno())
            except OSError:
                raise Doubtful(error.errno, error.strerror) from None
            raise
        self._end, self._room, self._last = end + len(record), room, (end, record[:_START])

    def remove_incomplete_record(self) -> None:
        """Requires the lock. Raises Replaced."""
        self._opened()

    def _opened(self) -> tuple[FileIO, int]:
        """The file without an incomplete record, and the position at which to append. Raises Replaced."""
        if self._stream is None or self._end is None:
            start, end = 0, len(self._begin)
            for payload, end in self._records():
                start = end - len(payload) - _START
            stream = self.path.open("r+b", buffering=0)
            try:
                self._last = start, os.pread(stream.fileno(), _START, start)
                self._inode_before = self._inode()
                self._room = None if self.cut_off else stream.seek(0, os.SEEK_END)
            except BaseException:
                stream.close()
                raise
            self._end = end
            self._stream = stream  # last: half of these fields would pass for a replaced file
        self._require_same_file(self._stream)
        if self._room is None:
            self._stream.truncate(self._end)
        return self._stream, self._end

    def _require_same_file(self, stream: FileIO) -> None:
        """Raises Replaced. Not by `fstat`: it makes Linux write the file's times with each record."""
        at, begin = self._last
        if (
            self._inode() != self._inode_before
            or os.pread(stream.fileno(), len(begin), at) != begin
            or (self._room is not None and stream.seek(0, os.SEEK_END) != self._room)
        ):
            raise Replaced(f"`{self.path}` is another file than before")

    def _inode(self) -> int | None:
        """The inode that the directory has for the file's name."""
        with os.scandir(self.path.parent) as entries:
            return next((entry.inode() for entry in entries if entry.name == self.path.name), None)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def size(self) -> int:
        """The bytes up to the end of the last whole record; 0 before the first `append`."""
        return self._end or 0

    def is_empty(self) -> bool:
        """Whether there is no record, nor a part of one."""
        content = self.path.read_bytes()
        return len(content) <= len(self._begin) or not any(content.removeprefix(self._begin))

    def _records(self) -> Iterator[tuple[bytes, int]]:
        """Each whole record, and its end. Raises Damaged if a whole record follows an incomplete one."""
        self.cut_off = 0
        with self.path.open("rb") as stream:
            if stream.read(len(self._begin)) != self._begin:
                raise Damaged(f"`{self.path}` was changed after it was written")
            while True:
                at = stream.tell()
                payload, is_end_known = _record(stream)
                if payload is None:
                    end = stream.tell()
                    stream.seek(at)
                    tail = stream.read().rstrip(b"\0")
                    if not (tail[end - at :] if is_end_known else _has_record(tail)):
                        self.cut_off = len(tail)
                        return
                    stream.seek(at)  # once more: a writer may have completed this record before the one behind it
                    payload, _ = _record(stream)
                    if payload is None:
                        raise Damaged(f"`{self.path}` was changed after it was written")
                yield payload, stream.tell()


def _record(stream: BinaryIO) -> tuple[bytes | None, bool]:
    """The next record, None if it is not whole; and whether its length is known, so that the stream is at its end."""
    start = stream.read(_START)
    if len(start) < _START:
        return None, False
    head, [checked] = start[: _HEAD.size], _CHECKSUM.unpack(start[_HEAD.size :])
    if zlib.crc32(head) != checked:
        return None, False
    length, checksum = _HEAD.unpack(head)
    payload = stream.read(length)
    return (payload if len(payload) == length and zlib.crc32(payload) == checksum else None), True


def _has_record(content: bytes) -> bool:
    """Whether any part of `content` is a whole record."""
    at = content.find(_FIRST)
    while at >= 0:
        if at >= _START and _record(BytesIO(content[at - _START :]))[0] is not None:
            return True
        at = content.find(_FIRST, at + 1)
    return False


def _write_all(stream: FileIO, content: bytes) -> int:
    """Writes `content` and returns its length."""
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]
    return len(content)


def _write_with_room(stream: FileIO, record: bytes, room: int) -> int:
    """Writes a record, and zeros if the disk has room for them; returns the number of bytes written."""
    start = stream.tell()
    try:
        return _write_all(stream, record + bytes(room))
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
    stream.truncate(start)
    stream.seek(start)
    return _write_all(stream, record)


def _payload(change: Change) -> bytes:
    writer = PartsWriter()
    table = {
        "epoch": change.epoch,
        "deleted": {name: _rows_in_json(rows, writer) for name, rows in change.deleted.items()},
        "inserted": {name: _rows_in_json(rows, writer) for name, rows in change.inserted.items()},
        "program": change.program,
    }
    if writer.parts:
        table["parts"] = writer.parts
    return in_json(table)


def _change(payload: bytes) -> Change:
    table = from_json(payload)
    known = known_parts(table.pop("parts", ()))  # older records have no such table
    for key in ("deleted", "inserted"):
        table[key] = {name: _rows_from_json(rows, known) for name, rows in table[key].items()}
    return Change(**table)


def in_json(value: Any) -> bytes:
    """JSON without escapes: escaped halves of a surrogate pair would be read as one character."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def from_json(content: bytes) -> Any:
    return json.loads(content.decode("utf-8", "surrogatepass"))


def _rows_in_json(rows: Sequence[Row], writer: PartsWriter) -> Sequence[Sequence[Any]]:
    return rows if _are_simple(rows) else [list(map(writer.word, row)) for row in rows]


def _rows_from_json(rows: Sequence[Sequence[Any]], known: Sequence[Value]) -> list[Row]:
    if _are_simple(rows):
        return list(map(tuple, rows))
    return [tuple([value_of_word(word, known) for word in row]) for row in rows]


def _are_simple(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether JSON represents all values directly."""
    return set(map(type, chain.from_iterable(rows))) <= {str, int}

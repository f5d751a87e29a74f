"""The log of changes: what every transaction since the last snapshot was told, each with a checksum.

A transaction is committed when its record is on disk, whole. What comes after the last whole record is of one that was
cut off, and is taken away before the next; or it is zeros, room for more, made with a record before: while a file does
not grow, its length need not be written with each record. The file begins with `BEGIN`, so that an emptied one is not
taken for one without changes.
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

_HEAD = struct.Struct("<QI")  # length and checksum of what follows
_CHECKSUM = struct.Struct("<I")  # of the head
_START = _HEAD.size + _CHECKSUM.size
BEGIN = b"flintlog journal"
_FIRST = b'{"epoch":'  # every payload begins so
# Room is made for so many bytes at least, and at most.
_LEAST_ROOM, _MOST_ROOM = 1 << 16, 1 << 20
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# What was written is on disk, and the file's length, but no times of it, where the system tells these apart.
_sync = getattr(os, "fdatasync", os.fsync)


class Damaged(Exception):
    """A file is not what was written."""


class Doubtful(OSError):
    """A record was not written as it should have been, and could not be taken away."""


class Replaced(Exception):
    """The file that is open is not the one in the directory, or others have written to it."""


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
        # Where the zeros end, for who appends, which is the end of the file; None if there may be something else.
        self._room: int | None = None
        # For who appends: what the directory says which file this is, and where and how its last record begins.
        self._number: int | None = None
        self._last = 0, begin

    def create(self) -> None:
        self._stream = self.path.open("x+b", buffering=0)
        self._end = len(self._begin)
        try:
            self._room = _write_all(self._stream, self._begin + bytes(_LEAST_ROOM))
            os.fsync(self._stream.fileno())
            self._number = self._number_now()
        except OSError:
            self.close()
            raise

    def changes(self) -> list[Change]:
        """All that was committed. `cut_off` says how many bytes there are after that which are not room for more."""
        return [_change(payload) for payload, _ in self._records()]

    def append(self, change: Change) -> None:
        """Commits a change: it is on disk when this returns. Raises Replaced."""
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
                stream.truncate(end)  # so that what was not promised is not found
                os.fsync(stream.fileno())
            except OSError:
                raise Doubtful(error.errno, error.strerror) from None
            raise
        self._end, self._room, self._last = end + len(record), room, (end, record[:_START])

    def take_away_what_is_not_whole(self) -> None:
        """For who appends. Raises Replaced."""
        self._opened()

    def _opened(self) -> tuple[FileIO, int]:
        """The file to append to, without what is not whole, and where. Raises Replaced."""
        if self._stream is None or self._end is None:
            start, end = 0, len(self._begin)
            for payload, end in self._records():
                start = end - len(payload) - _START
            stream = self.path.open("r+b", buffering=0)
            try:
                self._last = start, os.pread(stream.fileno(), _START, start)
                self._number = self._number_now()
                self._room = None if self.cut_off else stream.seek(0, os.SEEK_END)
            except BaseException:
                stream.close()
                raise
            self._end = end
            self._stream = stream  # at last: what is half known would be taken for somebody else's
        self._require_same_file(self._stream)
        if self._room is None:
            self._stream.truncate(self._end)
        return self._stream, self._end

    def _require_same_file(self, stream: FileIO) -> None:
        """To ask for the file's state instead would have Linux write its times with each record."""
        at, begin = self._last
        if (
            self._number_now() != self._number
            or os.pread(stream.fileno(), len(begin), at) != begin
            or (self._room is not None and stream.seek(0, os.SEEK_END) != self._room)
        ):
            raise Replaced(f"`{self.path}` is another file than before")

    def _number_now(self) -> int | None:
        """The number that the directory has for the file's name."""
        with os.scandir(self.path.parent) as entries:
            return next((entry.inode() for entry in entries if entry.name == self.path.name), None)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def size(self) -> int:
        """Of what is whole, for who appends."""
        return self._end or 0

    def is_empty(self) -> bool:
        """Whether nothing was ever appended, or begun to be."""
        content = self.path.read_bytes()
        return len(content) <= len(self._begin) or not any(content.removeprefix(self._begin))

    def _records(self) -> Iterator[tuple[bytes, int]]:
        """Every whole record, and where it ends. Raises Damaged if one that is not whole is not the last."""
        self.cut_off = 0
        with self.path.open("rb") as stream:
            if stream.read(len(self._begin)) != self._begin:
                raise Damaged(f"`{self.path}` is not what was written")
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
                    stream.seek(at)  # somebody may be writing: with another behind it, it is whole by now, or damaged
                    payload, _ = _record(stream)
                    if payload is None:
                        raise Damaged(f"`{self.path}` is not what was written")
                yield payload, stream.tell()


def _record(stream: BinaryIO) -> tuple[bytes | None, bool]:
    """What stands next, None if that is no whole record; and whether the stream is where it ends, or would end."""
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
    """Whether a whole record stands anywhere in it."""
    at = content.find(_FIRST)
    while at >= 0:
        if at >= _START and _record(BytesIO(content[at - _START :]))[0] is not None:
            return True
        at = content.find(_FIRST, at + 1)
    return False


def _write_all(stream: FileIO, content: bytes) -> int:
    """Returns how many bytes that were."""
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]
    return len(content)


def _write_with_room(stream: FileIO, record: bytes, room: int) -> int:
    """Returns how many bytes that were: only those of the record, where the disk has none for more."""
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
    known = known_parts(table.pop("parts", ()))  # none, where records are written with all of their parts in them
    for key in ("deleted", "inserted"):
        table[key] = {name: _rows_from_json(rows, known) for name, rows in table[key].items()}
    return Change(**table)


def in_json(value: Any) -> bytes:
    """With symbols as they are: escapes for halves of characters would be read as whole ones."""
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
    """Whether JSON has all values as they are."""
    return set(map(type, chain.from_iterable(rows))) <= {str, int}

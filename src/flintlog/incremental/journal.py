"""The log of changes: what every transaction since the last snapshot was told, each with a checksum.

A transaction is committed when its record is on disk, whole. What comes after the last whole record is of one that was
cut off, and is taken away before the next.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign
from pathlib import Path
from typing import Any

from flintlog.types import NAN, NEGATIVE_NAN, Adt, Row, Value

_HEAD = struct.Struct("<II")  # length and checksum of what follows


@dataclass
class Change:
    """What a transaction was told: facts that go, facts that come, and the program's text if that is another."""

    epoch: int
    deleted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    inserted: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    program: str | None = None


class Journal:
    """A file of changes that grows at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self) -> None:
        with self._path.open("xb") as stream:
            os.fsync(stream.fileno())

    def changes(self) -> list[Change]:
        """All that was committed."""
        return [_change(payload) for payload, _ in self._records()]

    def append(self, change: Change) -> None:
        """Commits a change: it is on disk when this returns."""
        end = max((end for _, end in self._records()), default=0)
        payload = _payload(change)
        with self._path.open("r+b") as stream:
            stream.truncate(end)
            stream.seek(end)
            stream.write(_HEAD.pack(len(payload), zlib.crc32(payload)) + payload)
            stream.flush()
            os.fsync(stream.fileno())

    def _records(self) -> Iterator[tuple[bytes, int]]:
        """Every whole record, and where it ends."""
        with self._path.open("rb") as stream:
            while len(head := stream.read(_HEAD.size)) == _HEAD.size:
                length, checksum = _HEAD.unpack(head)
                payload = stream.read(length)
                if len(payload) != length or zlib.crc32(payload) != checksum:
                    return
                yield payload, stream.tell()


def _payload(change: Change) -> bytes:
    table = {
        "epoch": change.epoch,
        "deleted": {name: [list(map(plain, row)) for row in rows] for name, rows in change.deleted.items()},
        "inserted": {name: [list(map(plain, row)) for row in rows] for name, rows in change.inserted.items()},
        "program": change.program,
    }
    return json.dumps(table, separators=(",", ":")).encode("ascii")


def _change(payload: bytes) -> Change:
    table = json.loads(payload)
    for key in ("deleted", "inserted"):
        table[key] = {name: [tuple(map(value_of, row)) for row in rows] for name, rows in table[key].items()}
    return Change(**table)


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

"""The relations of the ranks as files, from which a later attempt continues. Damage is an error, never a wrong answer.

One file for each part, `snapshot-NUMBER-part-RANK-of-RANKS`:

    preface   magic, length of the description
    description   JSON: run, number, rank, ranks, names of the tables, length of `extra`
    extra
    tables    as one message of `frames`, batch i being table i
    seal      SHA-256 of everything before it
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flintlog.engines.spark.exchange.errors import ProtocolError, SnapshotDamaged

if TYPE_CHECKING:
    from flintlog.engines.spark.exchange.message import Column

_PREFACE = struct.Struct("<8sQ")
_MAGIC = b"FLSNAP1\n"
_SEAL = 32
_BLOCK = 4 << 20
_PART = re.compile(r"snapshot-(\d+)-part-(\d+)-of-(\d+)(\.writing-\w+)?")


@dataclass(frozen=True)
class Snapshots:
    """Parts of snapshots in one directory: a local path, or a URI that pyarrow knows (file, hdfs, s3, gs, abfs). All
    ranks see the same directory. Travels in the tasks' closure.

    Runs that share a directory must have names, such as their tickets': every run numbers its snapshots from the
    beginning.
    """

    directory: str
    ranks: int
    run: str = ""

    def write(self, number: int, rank: int, tables: Mapping[str, Sequence[Column]], extra: bytes = b"") -> None:
        """Writes a rank's part: under another name first, so that a part under its own name is complete.

        A relation without columns needs a column of zeros, as in word frames: a table without columns would lose its
        rows, and is refused.
        """
        for name, columns in tables.items():
            if not columns:
                raise ValueError(f"table `{name}` has no columns")
        system, root = self._open()
        system.create_dir(root, recursive=True)
        path = f"{root}/{self._part(number, rank)}"
        # Each writer has a name of its own: an old task that still runs may write the same part.
        unfinished = f"{path}.writing-{os.urandom(6).hex()}"
        seal = hashlib.sha256()
        with system.open_output_stream(unfinished) as stream:
            for block in self._blocks(number, rank, tables, extra):
                seal.update(block)
                stream.write(block)
            stream.write(seal.digest())
        system.move(unfinished, path)

    def read(self, number: int, rank: int) -> tuple[dict[str, list[Column]], bytes]:
        """The tables and the extra bytes of a part. Raises SnapshotDamaged unless the part is exactly as written."""
        system, root = self._open()
        path = f"{root}/{self._part(number, rank)}"
        try:
            with system.open_input_file(path) as stream:
                _verify_seal(stream, path)
                stream.seek(0)
                return self._parse(stream, number, rank, path)
        except FileNotFoundError as error:
            raise SnapshotDamaged(f"{path} is missing") from error
        except (OSError, ProtocolError, ValueError, LookupError) as error:
            raise SnapshotDamaged(f"{path} cannot be read: {error}") from error

    def prune(self, rank: int, before: int) -> None:
        """Removes a rank's parts of all snapshots with lower numbers, finished or not."""
        system, root = self._open()
        for name, number, part in _parts(system, root):
            if part == rank and number < before:
                _remove(system, f"{root}/{name}")

    def clear(self) -> None:
        """Removes all parts, and the directory if nothing else is in it: the run is over."""
        system, root = self._open()
        for name, _, _ in _parts(system, root):
            _remove(system, f"{root}/{name}")
        if not _listing(system, root):
            _remove(system, root, directory=True)

    def _part(self, number: int, rank: int) -> str:
        return f"snapshot-{number:010d}-part-{rank:05d}-of-{self.ranks:05d}"

    def _identity(self, number: int, rank: int) -> dict[str, Any]:
        return {"run": self.run, "number": number, "rank": rank, "ranks": self.ranks}

    def _open(self) -> tuple[Any, str]:
        from pyarrow.fs import FileSystem

        # Spark writes s3a for the scheme s3.
        directory = re.sub(r"^s3[an]://", "s3://", self.directory)
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", directory):
            directory = Path(directory).absolute().as_uri()
        system, root = FileSystem.from_uri(directory)
        return system, f"{root.rstrip('/')}/{self.run}".rstrip("/")

    def _blocks(
        self, number: int, rank: int, tables: Mapping[str, Sequence[Column]], extra: bytes
    ) -> Iterator[memoryview | bytes]:
        from flintlog.engines.spark.exchange.frames import encode
        from flintlog.engines.spark.exchange.message import Batch, Message

        content = {**self._identity(number, rank), "tables": list(tables), "extra": len(extra)}
        description = json.dumps(content).encode()
        yield _PREFACE.pack(_MAGIC, len(description)) + description + extra
        yield from encode(Message((), [Batch(tag, columns) for tag, columns in enumerate(tables.values())]), number)

    def _parse(self, stream: Any, number: int, rank: int, path: str) -> tuple[dict[str, list[Column]], bytes]:
        magic, length = _PREFACE.unpack(stream.read(_PREFACE.size))
        description = json.loads(stream.read(length))
        if magic != _MAGIC or not self._identity(number, rank).items() <= description.items():
            raise SnapshotDamaged(f"{path} holds another snapshot than its name says")
        extra = stream.read(description["extra"])
        batches = _read_message(stream, number).batches
        return {name: list(batch.columns) for name, batch in zip(description["tables"], batches, strict=True)}, extra


def _read_message(stream: Any, number: int) -> Any:
    from flintlog.engines.spark.exchange.frames import decode

    decoder = decode(number)
    unfilled = next(decoder)
    while True:
        count = stream.readinto(unfilled)
        if not count:
            raise ValueError("the file ends too early")
        unfilled = unfilled[count:]
        if not unfilled:
            try:
                unfilled = next(decoder)
            except StopIteration as end:
                return end.value


def _verify_seal(stream: Any, path: str) -> None:
    # Before the content is read: a changed length could demand any amount of memory.
    seal = hashlib.sha256()
    left = stream.size() - _SEAL
    while left > 0:
        block = stream.read(min(left, _BLOCK))
        if not block:
            break
        seal.update(block)
        left -= len(block)
    if left != 0 or stream.read(_SEAL) != seal.digest():
        raise SnapshotDamaged(f"{path} is not as it was written")


def _parts(system: Any, root: str) -> list[tuple[str, int, int]]:
    """The files of parts, finished or not: name, number of the snapshot, rank."""
    names = _listing(system, root)
    return [(name, int(found[1]), int(found[2])) for name in names if (found := _PART.fullmatch(name))]


def _listing(system: Any, root: str) -> list[str]:
    from pyarrow.fs import FileSelector

    return [info.base_name for info in system.get_file_info(FileSelector(root, allow_not_found=True))]


def _remove(system: Any, path: str, *, directory: bool = False) -> None:
    # A file that cannot be removed costs nothing but disk space.
    try:
        if directory:
            system.delete_dir(path)
        else:
            system.delete_file(path)
    except OSError:
        pass

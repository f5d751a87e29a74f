"""Tables that travel with a task: pickled with it, or through a file where tasks run on the driver's own machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from flintlog.engines.spark.embedded.tagged import narrowed

# To pickle a smaller table takes less time than to open a file.
WORTH_A_FILE = 1 << 20


@dataclass(frozen=True)
class Filed:
    """A table in a file, which is mapped into memory where it is unpacked."""

    path: str

    def unpacked(self) -> pa.Table:
        with pa.memory_map(self.path) as source:
            return pa.ipc.open_file(source).read_all()


@dataclass(frozen=True)
class Packed:
    """A table that is pickled."""

    table: pa.Table

    def unpacked(self) -> pa.Table:
        return self.table


Parcel = Filed | Packed


class Parcels:
    """Packs tables; `clear` deletes the files that this made."""

    def __init__(self, *, is_local: bool) -> None:
        self._is_local = is_local
        self._folder: TemporaryDirectory[str] | None = None
        self._count = 0

    def pack(self, table: pa.Table) -> Parcel:
        if not self._is_local or table.nbytes < WORTH_A_FILE:
            return Packed(narrowed(table))
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="flintlog-", ignore_cleanup_errors=True)
        self._count += 1
        path = Path(self._folder.name) / f"{self._count}.arrow"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        return Filed(str(path))

    def clear(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

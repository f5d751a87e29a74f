"""The directory of a database: a manifest, the last snapshot, and the journal of later transactions.

    manifest.json      names the current snapshot and journal, with checksums; replaced atomically
    snapshot-N/        the state after transaction N
    journal-N          the transactions after N
    lock               locked by the writing process

One append to the journal commits a transaction. A new snapshot becomes current when its manifest replaces the old one.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.numbered_values import NumberedValues
from flintlog.incremental.durable.journal import BEGIN, Change, Damaged, Doubtful, Journal, Replaced
from flintlog.incremental.durable.snapshot import Snapshot, read_snapshot, sync_folder, write_snapshot
from flintlog.incremental.durable.uninterrupted import uninterrupted
from flintlog.incremental.rows.maintained_relation import MaintainedRelation

FORMAT = 2  # 1 had no table of the parts that values have in common
_KNOWN = {1, FORMAT}
MANIFEST, LOCK = "manifest.json", "lock"
_NEW_MANIFEST = f".{MANIFEST}.tmp"
RESTORE = "restore the directory from a copy, or create the database again"
_OWN = re.compile(r"(snapshot|journal)-\d+")
_EARLIER, _NOTHING = "all earlier transactions are committed", "no database was created"
_WRITING = 0.05  # seconds that writing a transaction may take
# A journal is compacted above so many bytes, and above so many times the bytes of its snapshot.
LEAST_JOURNAL, MOST_JOURNAL = 1 << 23, 4


class Store:
    """The files of one database. A writer holds the lock from `lock` to `close`."""

    def __init__(self, folder: Path) -> None:
        self.name = folder  # as the user wrote it, for messages: it may be relative to an earlier working directory
        self.folder = folder.absolute()
        self._lock_path, self._manifest_path = self.folder / LOCK, self.folder / MANIFEST
        self._lock: BinaryIO | None = None
        self._lock_file = 0, 0  # its device and inode
        self._made: list[Path] = []  # folders that `lock` creates, the deepest first
        self._unnamed: list[Path] = []  # folders whose names may not be on disk yet
        self._process = os.getpid()  # a forked process shares the lock, and must not use it
        self._is_closed = False
        self._manifest: dict[str, Any] = {}
        self.warnings: list[Diagnostic] = []  # of the last `read`
        self._journal: Journal | None = None
        # For writers: the file of this manifest, and whether all names are on disk.
        self._manifest_file: object = None
        self._is_synced = True

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the last snapshot."""
        options: Mapping[str, Any] = self._manifest["options"]
        return options

    @property
    def epoch(self) -> int:
        """The number of transactions in the last snapshot."""
        return int(self._manifest["epoch"])

    # --- Reading ----------------------------------------------------------------------------------

    def read(self) -> tuple[Snapshot, list[Change]]:
        """The last snapshot, and the transactions after it. Raises FlintlogError."""
        for _ in range(10):
            self._require_own_lock()
            seen = self._manifest_identity() if self.is_locked else None
            self._manifest, self._manifest_file = self._read_manifest(), seen
            try:
                snapshot = read_snapshot(self.folder / self._manifest["snapshot"], self._manifest["files"])
                begin = self._manifest.get("journal_begins_with", "").encode("ascii")
                self._use(Journal(self.folder / self._manifest["journal"], begin))
                return snapshot, self._changes()
            except (Damaged, OSError) as problem:
                if self._read_manifest() == self._manifest:  # otherwise a writer has just replaced it
                    what = f"`{problem.filename}`: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
                    damaged = Diagnostic("E942", f"the database is damaged: {what}", note=RESTORE)
                    raise FlintlogError([damaged]) from None
        raise FlintlogError([Diagnostic("E942", f"`{self.name}` changes faster than it can be read")])

    def _changes(self) -> list[Change]:
        assert self._journal is not None
        self.warnings = []
        changes, seen = self._journal.changes(), (-1, 0)
        remains = self._journal.cut_off
        while remains and not self.is_locked and seen != (len(changes), remains):
            seen = len(changes), remains
            time.sleep(_WRITING)  # a process may be writing one transaction after another
            changes = self._journal.changes()
            remains = self._journal.cut_off
        if remains:
            message = f"the last {remains:,} bytes of `{self.name / self._manifest['journal']}` are no transaction"
            note = "they are ignored: a writer was killed, which does no harm, or the end of the file is damaged"
            self.warnings.append(Diagnostic("W940", message, note=note))
        if [change.epoch for change in changes] != list(range(self.epoch + 1, self.epoch + 1 + len(changes))):
            raise Damaged(f"`{self._journal.path}` lacks transactions, or has them in another order")
        return changes

    def _read_manifest(self) -> dict[str, Any]:
        try:
            manifest = json.loads(self._manifest_path.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            self.require_no_remains()
            note = "make one with `flintlog db create` or `Database.create`"
            raise FlintlogError([Diagnostic("E940", f"`{self.name}` is no database", note=note)]) from None
        except OSError as error:
            raise FlintlogError([Diagnostic("E942", f"`{self.name / MANIFEST}` cannot be read: {error}")]) from None
        except ValueError:
            raise self._bad_manifest() from None
        if not isinstance(manifest, dict):
            raise self._bad_manifest()
        if manifest.get("format") not in _KNOWN:
            message = f"`{self.name}` has format {manifest.get('format')}; this version reads up to {max(_KNOWN)}"
            raise FlintlogError([Diagnostic("E943", message, note="use the version of Flintlog that made it")])
        if manifest.get("checksum") != _checksum(manifest):
            raise self._bad_manifest()
        return manifest

    def _bad_manifest(self) -> FlintlogError:
        message = f"the database is damaged: `{self.name / MANIFEST}` was changed after it was written"
        return FlintlogError([Diagnostic("E942", message, note=RESTORE)])

    # --- Writing ----------------------------------------------------------------------------------

    def lock(self) -> None:
        """Locks the database, in a new directory if need be, until `close`. Raises FlintlogError."""
        try:
            if not self.exists():
                self._made = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
                self._unnamed = self._made[:] or [self.folder]
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._lock_path.open("ab")
        except (FileExistsError, NotADirectoryError) as error:
            above = "" if isinstance(error, FileExistsError) else "in "
            message = f"a database is a directory, and `{self.name}` is {above}a file"
            raise FlintlogError([Diagnostic("E949", message, note="name another directory")]) from None
        except OSError as error:
            note = "it can be read: `flintlog db query`, or open it with `read_only`" if self.exists() else _NOTHING
            raise self._cannot_write(error, note) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            state = os.fstat(self._lock.fileno())
        except OSError as error:
            self.close()
            if not isinstance(error, BlockingIOError):
                raise self._cannot_write(error) from None
            message = f"`{self.name}` is open for writing already, in this process or another"
            raise FlintlogError([Diagnostic("E941", message, note="try again when it is closed")]) from None
        self._lock_file = state.st_dev, state.st_ino
        try:
            self._require_own_lock()
        except FlintlogError:
            self.close()
            raise

    def take_away(self) -> None:
        """Closes the store. If no database was created, also removes what `lock` created."""
        if self.is_locked and self._made and not self.exists():
            with suppress(OSError):
                self._remove_old()
                self._lock_path.unlink()
                for folder in self._made:
                    folder.rmdir()  # fails if another process has put a file there
        self.close()

    def close(self) -> None:
        self._is_closed = True
        self._use(None)
        if self._lock is not None:
            if self._process == os.getpid():  # a forked process has the file open, too, and would keep the lock
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            self._lock.close()
            self._lock = None

    def _use(self, journal: Journal | None) -> None:
        if self._journal is not None:
            self._journal.close()
        self._journal = journal

    def commit(self, change: Change) -> None:
        """Commits a transaction: it is on disk when this returns. Raises FlintlogError."""
        assert self._journal is not None
        try:
            self._require_same_files()
            if not self._is_synced:
                self._sync_names()
            self._journal.append(change)
        except Replaced:
            raise self._replaced() from None
        except OSError as error:
            note = _EARLIER
            if isinstance(error, Doubtful):
                note += ", and perhaps this transaction, too: open the database again to see"
            raise self._cannot_write(error, note) from None

    def _require_own_lock(self) -> None:
        """Raises if the locked file is no longer the directory's, as after a backup was copied over it: another process
        may hold the new one."""
        if self.is_locked:
            try:
                state = self._lock_path.stat()
            except OSError:
                raise self._replaced() from None
            if (state.st_dev, state.st_ino) != self._lock_file:
                raise self._replaced()

    def _manifest_identity(self) -> object:
        """Identifies the file of the current manifest; None if there is none."""
        try:
            state = self._manifest_path.stat()
        except OSError:
            return None
        return state.st_dev, state.st_ino, state.st_mtime_ns

    def _require_same_files(self) -> None:
        """Raises if the lock or the manifest was replaced."""
        self._require_own_lock()
        if self._manifest and self._manifest_identity() != self._manifest_file:
            raise self._replaced()

    def _replaced(self) -> FlintlogError:
        message = f"another process has replaced or changed files of `{self.name}`"
        return FlintlogError([Diagnostic("E949", message, note="open it again")])

    def _cannot_write(self, error: OSError, note: str = "") -> FlintlogError:
        note = note or (_EARLIER if self._manifest else _NOTHING)
        message = f"cannot write to `{self.name}`: {error.strerror or error}"
        return FlintlogError([Diagnostic("E949", message, note=note)])

    @property
    def is_locked(self) -> bool:
        return self._lock is not None

    def require_lock(self) -> None:
        """Raises if the database was opened for reading, or by the process from which this one was forked."""
        if self._lock is not None and self._process != os.getpid():
            note = "close it before forking, and open it in this process"
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` was opened by another process", note=note)])
        self.require_open()
        if self._lock is None:
            note = "open it without `read_only`"
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` is open for reading only", note=note)])

    def require_open(self) -> None:
        if self._is_closed:
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` is closed", note="open it again")])

    def require_no_remains(self) -> None:
        """Raises if there is a journal with transactions, but no manifest. (An interrupted `create` leaves an empty
        one.)"""
        remains = self.folder.iterdir() if self.folder.is_dir() else ()
        for path in remains:
            journal = re.fullmatch(r"journal-(\d+)", path.name)
            if journal and (int(journal[1]) or not Journal(path).is_empty()):
                message = f"the database is damaged: `{self.name / MANIFEST}` is missing"
                raise FlintlogError([Diagnostic("E942", message, note=RESTORE)])

    def require_no_namesakes(self) -> None:
        """Raises if the user has files with the names of a database's: without a lock, they are not a database's."""
        if self.folder.is_dir() and not self._lock_path.exists():
            for path in self.folder.iterdir():
                if _OWN.fullmatch(path.name):
                    message = f"`{self.name / path.name}` has a name that the database needs"
                    raise FlintlogError([Diagnostic("E949", message, note="name another directory, or move it")])

    def exists(self) -> bool:
        return self._manifest_path.exists()

    def keep(
        self,
        epoch: int,
        program: str,
        values: NumberedValues,
        kept: Mapping[str, MaintainedRelation],
        options: Mapping[str, Any],
    ) -> bool:
        """Replaces the last snapshot and its journal; returns False if the snapshot has all transactions already."""
        self.require_lock()
        self._require_same_files()
        snapshot, journal = self.folder / f"snapshot-{epoch}", Journal(self.folder / f"journal-{epoch}")
        is_new = self._manifest.get("snapshot") != snapshot.name
        try:
            self._remove_old()  # of an interrupted snapshot, too
            if is_new:
                try:
                    files = write_snapshot(snapshot, program, values, kept)
                    journal.create()
                    manifest = self._write_manifest(snapshot, journal, epoch, files, options)
                    self._require_same_files()  # again: writing takes time
                except BaseException:
                    self._remove_written(snapshot, journal)
                    raise
                self._switch_to(manifest, journal)
                self._remove_old()
            elif self._journal is not None:
                self._journal.remove_incomplete_record()
        except Replaced:
            raise self._replaced() from None
        except OSError as error:
            raise self._cannot_write(error) from None
        return is_new

    def _remove_written(self, snapshot: Path, journal: Journal) -> None:
        """Removes only these: other files may be the user's."""
        journal.close()
        with suppress(OSError):
            _remove(snapshot)
            _remove(journal.path)
            _remove(self.folder / _NEW_MANIFEST)

    def _write_manifest(
        self, snapshot: Path, journal: Journal, epoch: int, files: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Writes a manifest beside the current one. It and all files that it names are on disk when this returns."""
        manifest = {
            "format": FORMAT,
            "epoch": epoch,
            "snapshot": snapshot.name,
            "journal": journal.path.name,
            "journal_begins_with": BEGIN.decode("ascii"),
            "files": files,
            "options": dict(options),
        }
        manifest["checksum"] = _checksum(manifest)
        with (self.folder / _NEW_MANIFEST).open("w", encoding="utf-8") as stream:
            json.dump(manifest, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        self._sync_names()
        return manifest

    def _switch_to(self, manifest: dict[str, Any], journal: Journal) -> None:
        """Makes a manifest and its journal the current ones, in the directory, in this object and on disk."""
        with uninterrupted():
            (self.folder / _NEW_MANIFEST).replace(self._manifest_path)
            self._manifest, self._manifest_file = manifest, self._manifest_identity()
            self._use(journal)
            self._is_synced = False
            self._sync_names()

    def _sync_names(self) -> None:
        """Writes the names of all files to disk."""
        sync_folder(self.folder)
        while self._unnamed:
            sync_folder(self._unnamed[-1].parent)
            self._unnamed.pop()
        self._is_synced = True

    def is_worth_compacting(self) -> bool:
        """Whether the journal is large, also in comparison with the snapshot."""
        snapshot: int = sum(file["size"] for file in self._manifest["files"].values())
        assert self._journal is not None
        return self._journal.size() > max(LEAST_JOURNAL, MOST_JOURNAL * snapshot)

    def _remove_old(self) -> None:
        """Removes snapshots and journals that the manifest does not name."""
        counts = {self._manifest.get("snapshot"), self._manifest.get("journal")}
        for path in self.folder.iterdir():
            if _OWN.fullmatch(path.name) and path.name not in counts:
                _remove(path)


def _checksum(manifest: Mapping[str, Any]) -> int:
    """The checksum of a manifest without the field `checksum`."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return crc32(json.dumps(rest, sort_keys=True).encode())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

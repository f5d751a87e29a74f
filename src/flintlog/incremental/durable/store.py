"""A database in a directory: a manifest, the last snapshot, and the journal of changes since.

    manifest.json      which snapshot and journal count, with checksums; replaced in one go
    snapshot-N/        the state after epoch N
    journal-N          the changes after it
    lock               held by whoever writes

A change is committed by one append to the journal. A new snapshot counts from the moment its manifest stands.
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
_WHAT_WAS, _NOTHING = "what was committed before is there", "no database was made"
_WRITING = 0.05  # seconds in which a transaction is written
# A journal of fewer bytes, or of fewer times what its snapshot has, is left as it is.
LEAST_JOURNAL, MOST_JOURNAL = 1 << 23, 4


class Store:
    """The files of one database. Who writes holds the lock, from `lock` to `close`."""

    def __init__(self, folder: Path) -> None:
        self.name = folder  # as it was said, which means another directory once the process works in another
        self.folder = folder.absolute()
        self._lock_path, self._manifest_path = self.folder / LOCK, self.folder / MANIFEST
        self._lock: BinaryIO | None = None
        self._lock_file = 0, 0  # which file the lock is
        self._made: list[Path] = []  # folders that were not there, from below
        self._unnamed: list[Path] = []  # those whose names may not be on disk yet
        self._process = os.getpid()  # a lock is shared with processes that are forked off, and must not be used there
        self._is_closed = False
        self._manifest: dict[str, Any] = {}
        self.warnings: list[Diagnostic] = []  # about what was read
        self._journal: Journal | None = None
        # For who writes: what `_manifest_there` said of this manifest, and whether its name is surely on disk.
        self._manifest_file: object = None
        self._is_synced = True

    @property
    def options(self) -> Mapping[str, Any]:
        """What was said when the last snapshot was written."""
        options: Mapping[str, Any] = self._manifest["options"]
        return options

    @property
    def epoch(self) -> int:
        """That of the last snapshot."""
        return int(self._manifest["epoch"])

    # --- Reading ----------------------------------------------------------------------------------

    def read(self) -> tuple[Snapshot, list[Change]]:
        """The last snapshot, and what was committed after it."""
        for _ in range(10):
            self._require_own_lock()
            seen = self._manifest_there() if self.is_locked else None
            self._manifest, self._manifest_file = self._read_manifest(), seen
            try:
                snapshot = read_snapshot(self.folder / self._manifest["snapshot"], self._manifest["files"])
                begin = self._manifest.get("journal_begins_with", "").encode("ascii")
                self._use(Journal(self.folder / self._manifest["journal"], begin))
                return snapshot, self._changes()
            except (Damaged, OSError) as problem:
                if self._read_manifest() == self._manifest:  # otherwise another writer has just made a new snapshot
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
            time.sleep(_WRITING)  # somebody may be at it, again and again
            changes = self._journal.changes()
            remains = self._journal.cut_off
        if remains:
            message = f"the last {remains:,} bytes of `{self.name / self._manifest['journal']}` are no transaction"
            note = "they are left out: one was cut off while it was written, which is all right, or the file is damaged"
            self.warnings.append(Diagnostic("W940", message, note=note))
        if [change.epoch for change in changes] != list(range(self.epoch + 1, self.epoch + 1 + len(changes))):
            raise Damaged(f"`{self._journal.path}` has not all transactions, or not in their order")
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
            message = f"`{self.name}` has format {manifest.get('format')}, and this version knows {max(_KNOWN)}"
            raise FlintlogError([Diagnostic("E943", message, note="use the version of Flintlog that made it")])
        if manifest.get("checksum") != _checksum(manifest):
            raise self._bad_manifest()
        return manifest

    def _bad_manifest(self) -> FlintlogError:
        message = f"the database is damaged: `{self.name / MANIFEST}` is not what was written"
        return FlintlogError([Diagnostic("E942", message, note=RESTORE)])

    # --- Writing ----------------------------------------------------------------------------------

    def lock(self) -> None:
        """From here on nobody else may write."""
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
            message = f"another process, or this one, has `{self.name}` open to write"
            raise FlintlogError([Diagnostic("E941", message, note="try again when it is done")]) from None
        self._lock_file = state.st_dev, state.st_ino
        try:
            self._require_own_lock()
        except FlintlogError:
            self.close()
            raise

    def take_away(self) -> None:
        """Closes what was to become a database and is none; the folders that were made for it go, too."""
        if self.is_locked and self._made and not self.exists():
            with suppress(OSError):
                self._remove_others()
                self._lock_path.unlink()
                for folder in self._made:
                    folder.rmdir()  # unless somebody has put something there
        self.close()

    def close(self) -> None:
        self._is_closed = True
        self._use(None)
        if self._lock is not None:
            if self._process == os.getpid():  # one that was forked off has the file open, too, and would keep the lock
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            self._lock.close()
            self._lock = None

    def _use(self, journal: Journal | None) -> None:
        if self._journal is not None:
            self._journal.close()
        self._journal = journal

    def commit(self, change: Change) -> None:
        assert self._journal is not None
        try:
            self._require_same_files()
            if not self._is_synced:
                self._sync_names()
            self._journal.append(change)
        except Replaced:
            raise self._others_are_there() from None
        except OSError as error:
            note = _WHAT_WAS
            if isinstance(error, Doubtful):
                note += ", and perhaps this transaction, too: open the database again to see"
            raise self._cannot_write(error, note) from None

    def _require_own_lock(self) -> None:
        """Raises where what holds the lock is another file than the directory's, as when a copy was put back: somebody
        else may hold that one. The file that is held says which one it is, never its path."""
        if self.is_locked:
            try:
                state = self._lock_path.stat()
            except OSError:
                raise self._others_are_there() from None
            if (state.st_dev, state.st_ino) != self._lock_file:
                raise self._others_are_there()

    def _manifest_there(self) -> object:
        """Tells a manifest from others that take its place; None if there is none."""
        try:
            state = self._manifest_path.stat()
        except OSError:
            return None
        return state.st_dev, state.st_ino, state.st_mtime_ns

    def _require_same_files(self) -> None:
        """Raises where somebody has put others in their place."""
        self._require_own_lock()
        if self._manifest and self._manifest_there() != self._manifest_file:
            raise self._others_are_there()

    def _others_are_there(self) -> FlintlogError:
        message = f"other files are in `{self.name}` than when it was opened"
        return FlintlogError([Diagnostic("E949", message, note="open it again")])

    def _cannot_write(self, error: OSError, note: str = "") -> FlintlogError:
        note = note or (_WHAT_WAS if self._manifest else _NOTHING)
        message = f"cannot write to `{self.name}`: {error.strerror or error}"
        return FlintlogError([Diagnostic("E949", message, note=note)])

    @property
    def is_locked(self) -> bool:
        return self._lock is not None

    def require_lock(self) -> None:
        """Raises for a database that was opened to read, or by the process that this one was forked from."""
        if self._lock is not None and self._process != os.getpid():
            note = "open it in the process that writes, and close it before"
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` was opened by another process", note=note)])
        self.require_open()
        if self._lock is None:
            note = "open it without `read_only`"
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` is open to read only", note=note)])

    def require_open(self) -> None:
        if self._is_closed:
            raise FlintlogError([Diagnostic("E947", f"`{self.name}` is closed", note="open it again")])

    def require_no_remains(self) -> None:
        """Raises where there is all of a database but its manifest. One that was cut off while it was made has no
        changes yet."""
        remains = self.folder.iterdir() if self.folder.is_dir() else ()
        for path in remains:
            journal = re.fullmatch(r"journal-(\d+)", path.name)
            if journal and (int(journal[1]) or not Journal(path).is_empty()):
                message = f"the database is damaged: `{self.name / MANIFEST}` is missing"
                raise FlintlogError([Diagnostic("E942", message, note=RESTORE)])

    def require_no_namesakes(self) -> None:
        """Raises where a new database would take files for its own that are none: there is no lock, so nobody has begun
        one here."""
        if self.folder.is_dir() and not self._lock_path.exists():
            for path in self.folder.iterdir():
                if _OWN.fullmatch(path.name):
                    message = f"`{self.name / path.name}` is in the way of a database"
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
        """Writes a snapshot, which counts from here on, and forgets the one before it; returns whether there was one to
        write."""
        self.require_lock()
        self._require_same_files()
        snapshot, journal = self.folder / f"snapshot-{epoch}", Journal(self.folder / f"journal-{epoch}")
        is_new = self._manifest.get("snapshot") != snapshot.name
        try:
            self._remove_others()  # of a snapshot that was cut off, too
            if is_new:
                try:
                    files = write_snapshot(snapshot, program, values, kept)
                    journal.create()
                    manifest = self._write_manifest(snapshot, journal, epoch, files, options)
                    self._require_same_files()  # still: to write takes its time
                except BaseException:
                    self._remove_what_was_written(snapshot, journal)
                    raise
                self._begin_with(manifest, journal)
                self._remove_others()
            elif self._journal is not None:
                self._journal.take_away_what_is_not_whole()
        except Replaced:
            raise self._others_are_there() from None
        except OSError as error:
            raise self._cannot_write(error) from None
        return is_new

    def _remove_what_was_written(self, snapshot: Path, journal: Journal) -> None:
        """And nothing else: whatever else is there may be somebody's."""
        journal.close()
        with suppress(OSError):
            _remove(snapshot)
            _remove(journal.path)
            _remove(self.folder / _NEW_MANIFEST)

    def _write_manifest(
        self, snapshot: Path, journal: Journal, epoch: int, files: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Beside the one that counts; on disk then, as is all that it names."""
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

    def _begin_with(self, manifest: dict[str, Any], journal: Journal) -> None:
        """From here on, these count: for whoever opens the database, for whoever commits, and on disk."""
        with uninterrupted():
            (self.folder / _NEW_MANIFEST).replace(self._manifest_path)
            self._manifest, self._manifest_file = manifest, self._manifest_there()
            self._use(journal)
            self._is_synced = False
            self._sync_names()

    def _sync_names(self) -> None:
        """Makes sure that the names of all files are on disk."""
        sync_folder(self.folder)
        while self._unnamed:
            sync_folder(self._unnamed[-1].parent)
            self._unnamed.pop()
        self._is_synced = True

    def is_worth_compacting(self) -> bool:
        """Whether the journal has grown to some times the size of the snapshot, and is not small."""
        snapshot: int = sum(file["size"] for file in self._manifest["files"].values())
        assert self._journal is not None
        return self._journal.size() > max(LEAST_JOURNAL, MOST_JOURNAL * snapshot)

    def _remove_others(self) -> None:
        """Removes what was written and does not count, or not any more."""
        counts = {self._manifest.get("snapshot"), self._manifest.get("journal")}
        for path in self.folder.iterdir():
            if _OWN.fullmatch(path.name) and path.name not in counts:
                _remove(path)


def _checksum(manifest: Mapping[str, Any]) -> int:
    """Of everything else in it."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return crc32(json.dumps(rest, sort_keys=True).encode())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

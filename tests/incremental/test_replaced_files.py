"""Files that somebody removed, replaced or wrote to while a database was open: nothing is committed to what does not
count, and nothing of somebody else's is removed."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.incremental.stored import code_of, opened, written_in

from flintlog.diagnostics import FlintlogError
from flintlog.incremental.durable import store
from flintlog.incremental.durable.journal import Change, Journal
from flintlog.incremental.durable.snapshot import sync_folder, write_snapshot
from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import Maintained


def test_nothing_is_committed_to_a_journal_that_was_removed(database: Maintained, tmp_path: Path) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    (tmp_path / "db" / "journal-0").unlink()
    with pytest.raises(FlintlogError) as caught:
        database.commit(Change(2, {}, {"e": [("d", "e")]}))
    assert code_of(caught) == "E949"
    assert (database.epoch, len(database.rows("p"))) == (1, 6)


@pytest.mark.parametrize("replaced", ["lock", "manifest.json", "journal-0", ""])
def test_nothing_is_committed_where_others_took_the_place_of_the_files(
    database: Maintained, tmp_path: Path, replaced: str
) -> None:
    """A copy was put back, or the lock removed, while the database was open."""
    folder, copy = tmp_path / "db", tmp_path / "copy"
    shutil.copytree(folder, copy)
    if replaced:
        shutil.copy(copy / replaced, folder / "new")
        (folder / "new").replace(folder / replaced)
    else:
        shutil.rmtree(folder)
        copy.rename(folder)
    for write in (lambda: database.commit(Change(1, {}, {"e": [("d", "e")]})), database.compact):
        with pytest.raises(FlintlogError, match="replaced or changed files") as caught:
            write()
        assert code_of(caught) == "E949"
    assert (database.epoch, len(database.rows("p"))) == (0, 3)
    database.close()
    again = opened(folder, writes=True)
    again.commit(Change(1, {}, {"e": [("d", "e")]}))
    assert again.check() == []
    again.close()


def test_a_journal_that_others_have_written_to_takes_no_commit(database: Maintained, tmp_path: Path) -> None:
    """A copy was written over the file in place, so it is the same one to the directory."""
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    folder, copy = tmp_path / "db", tmp_path / "copy"
    shutil.copytree(folder, copy)
    database.commit(Change(2, {}, {"e": [("d", "e")]}))
    (folder / "journal-0").write_bytes((copy / "journal-0").read_bytes())
    with pytest.raises(FlintlogError, match="replaced or changed files") as caught:
        database.commit(Change(3, {}, {"e": [("e", "f")]}))
    assert code_of(caught) == "E949"
    database.close()
    assert opened(folder).epoch == 1


def test_a_copy_that_is_put_back_while_a_snapshot_is_written_stays_whole(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    folder, copy = tmp_path / "db", tmp_path / "copy"
    shutil.copytree(folder, copy)
    database.commit(Change(2, {}, {"e": [("d", "e")]}))

    def written_late(path: Path, *rest: Any) -> Any:
        files = write_snapshot(path, *rest)
        folder.rename(tmp_path / "former")
        shutil.copytree(copy, folder)
        return files

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_snapshot", written_late)
        with pytest.raises(FlintlogError) as caught:
            database.compact()
    assert code_of(caught) == "E949"
    database.close()
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in copy.iterdir())
    again = opened(folder, writes=True)
    assert (again.epoch, len(again.rows("p")), again.check()) == (1, 6, [])
    again.close()


def test_a_lock_that_was_replaced_before_it_was_held_locks_nothing(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.close()
    lock, flock = tmp_path / "db" / "lock", fcntl.flock

    def held_late(descriptor: Any, operation: int) -> None:
        flock(descriptor, operation)
        lock.rename(tmp_path / "former")
        lock.touch()

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", held_late)
        with pytest.raises(FlintlogError, match="replaced or changed files"):
            Store(tmp_path / "db").lock()
    opened(tmp_path / "db", writes=True).close()


def test_names_that_are_not_on_disk_get_there_before_the_next_commit(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest counts from the moment it stands, also where the disk does not say that it has its name."""
    database.commit(Change(1, {}, {"e": [("c", "d")]}))

    def not_after_the_manifest(folder: Path) -> None:
        if folder == tmp_path / "db" and not (folder / ".manifest.json.tmp").exists():
            raise OSError(5, "Input/output error")
        sync_folder(folder)

    with monkeypatch.context() as patch:
        patch.setattr(store, "sync_folder", not_after_the_manifest)
        with pytest.raises(FlintlogError, match="Input/output error"):
            database.compact()
        with pytest.raises(FlintlogError, match="Input/output error"):
            database.commit(Change(2, {}, {"e": [("d", "e")]}))
    assert database.epoch == 1
    database.commit(Change(2, {}, {"e": [("d", "e")]}))
    database.close()
    assert (tmp_path / "db" / "snapshot-1").is_dir()
    assert opened(tmp_path / "db").epoch == 2


def test_compacting_takes_away_what_is_no_transaction(database: Maintained, tmp_path: Path) -> None:
    database.close()
    file = tmp_path / "db" / "journal-0"
    file.write_bytes(written_in(file) + os.urandom(20))
    writer = opened(tmp_path / "db", writes=True)
    assert [warning.code for warning in writer.warnings] == ["W940"]
    writer.compact()
    writer.close()
    assert opened(tmp_path / "db").warnings == []


def test_a_journal_that_an_interrupt_kept_from_being_opened_is_opened_again(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.close()
    writer = opened(tmp_path / "db", writes=True)

    def interrupted(self: Journal) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_inode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.compact()
    writer.commit(Change(1, {}, {"e": [("c", "d")]}))
    writer.close()
    assert opened(tmp_path / "db").epoch == 1

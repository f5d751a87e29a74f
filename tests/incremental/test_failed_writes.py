"""Disks that are full or fail: what was committed before is there, and nothing is left of the rest."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from tests.incremental.stored import EDGES, PATHS, code_of, opened

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.incremental.durable import store
from flintlog.incremental.durable.journal import Change
from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import Maintained
from flintlog.incremental.rules.instances import Instances
from flintlog.source import SourceFile

NO_RULES = SourceFile("<rules>", "")


def test_a_failed_change_leaves_no_trace(database: Maintained, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(database.rows("p"))

    def full(self: Store, change: Change) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", full)
        with pytest.raises(OSError, match="no space"):
            database.commit(Change(1, {}, {"e": [("c", "d")]}, PATHS + "p(y, x) :- p(x, y)."))
    assert sorted(database.rows("p")) == before
    assert database.text == PATHS
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(database.rows("p")) == 6


@pytest.mark.parametrize("letters", [1, 1 << 17])
def test_a_disk_that_is_full_is_said(database: Maintained, monkeypatch: pytest.MonkeyPatch, letters: int) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("flintlog.incremental.durable.journal._sync", full)
        with pytest.raises(FlintlogError, match="No space left") as caught:
            database.commit(Change(1, {}, {"e": [("c", "d" * letters)]}))
    assert code_of(caught) == "E949"
    assert len(database.rows("p")) == 3
    database.commit(Change(1, {}, {"e": [("x", "y")]}))
    assert len(database.rows("p")) == 4


def test_a_record_that_cannot_be_taken_away_is_said(database: Maintained, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("flintlog.incremental.durable.journal._sync", failing)
        patch.setattr("flintlog.incremental.durable.journal.os.fsync", failing)
        with pytest.raises(FlintlogError, match="perhaps this transaction, too"):
            database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(database.rows("p")) == 3
    database.commit(Change(1, {}, {"e": [("x", "y")]}))
    assert len(database.rows("p")) == 4


def test_folders_that_were_made_for_a_database_have_their_names_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("flintlog.incremental.durable.store.sync_folder", synced.append)
    database = Maintained(Store(tmp_path / "new" / "deeper" / "db"))
    database.create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
    database.close()
    assert {tmp_path, tmp_path / "new", tmp_path / "new" / "deeper"} <= set(synced)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_is_not_made_leaves_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    (tmp_path / "own").mkdir()

    def full(*arguments: Any) -> None:
        raise error(28, "No space left on device")

    monkeypatch.setattr("flintlog.incremental.durable.store.write_snapshot", full)
    for folder in (tmp_path / "own" / "new" / "db", tmp_path / "own"):
        with pytest.raises((FlintlogError, KeyboardInterrupt)) as caught:
            Maintained(Store(folder)).create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
        if isinstance(caught.value, FlintlogError):
            assert caught.value.diagnostics[0].note == "no database was created"
        assert not (tmp_path / "own" / "new").exists()
    assert (tmp_path / "own").is_dir()


def test_a_commit_stands_where_there_is_no_room_for_a_snapshot(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(folder: Path, *rest: object) -> dict[str, dict[str, int]]:
        folder.mkdir()
        (folder / "half").write_text("")
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write_snapshot", no_room)
    monkeypatch.setattr(Store, "is_worth_compacting", lambda self: True)
    changed = database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(changed["p"].inserted) == 3
    assert not (tmp_path / "db" / "snapshot-1").exists()
    assert len(opened(tmp_path / "db").rows("p")) == len(database.rows("p")) == 6
    with pytest.raises(FlintlogError) as caught:
        database.compact()
    assert code_of(caught) == "E949"


def test_a_database_without_room_for_indexes_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made when an update needs them."""

    def full(self: Instances, but: int | None = None) -> list[object]:
        raise FlintlogError([Diagnostic("E803", "there is no room")])

    database = Maintained(Store(tmp_path / "db"))
    with monkeypatch.context() as patch:
        patch.setattr(Instances, "preparations", full)
        database.create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(database.rows("p")) == 6
    assert database.check() == []
    database.close()

"""Directories whose files were cut off, emptied or changed: what was committed is there, or the damage is said."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.incremental.stored import PATHS, code_of, opened, written_in

from flintlog.diagnostics import FlintlogError
from flintlog.incremental.durable import journal, store
from flintlog.incremental.durable.journal import BEGIN, Change
from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import Maintained


@pytest.mark.parametrize("room", [0, 1000])
@pytest.mark.parametrize("kept", [0, 1, 7, 8, 20, -1])
def test_a_commit_that_was_cut_off_is_none(database: Maintained, tmp_path: Path, kept: int, room: int) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    file = tmp_path / "db" / "journal-0"
    whole = written_in(file)
    database.commit(Change(2, {}, {"e": [("d", "e")]}))
    database.close()
    second = written_in(file)[len(whole) :]
    file.write_bytes(whole + second[:kept] + bytes(room))
    writer = opened(tmp_path / "db", writes=True)
    assert writer.epoch == 1
    assert [warning.code for warning in writer.warnings] == ["W940"] * (kept != 0)
    assert len(writer.rows("p")) == 6
    writer.commit(Change(2, {}, {"e": [("x", "y")]}))
    writer.close()
    assert ("x", "y") in opened(tmp_path / "db").rows("p")


def test_damage_amid_the_journal_is_found(database: Maintained, tmp_path: Path) -> None:
    for epoch in (1, 2):
        database.commit(Change(epoch, {}, {"e": [("c", str(epoch))]}))
    database.close()
    file = tmp_path / "db" / "journal-0"
    content = bytearray(file.read_bytes())
    content[len(BEGIN) + 20] ^= 1
    file.write_bytes(content)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"


@pytest.mark.parametrize("at", range(16))
def test_damage_of_the_head_of_a_record_is_found(database: Maintained, tmp_path: Path, at: int) -> None:
    for epoch in (1, 2):
        database.commit(Change(epoch, {}, {"e": [("c", str(epoch))]}))
    database.close()
    file = tmp_path / "db" / "journal-0"
    content = bytearray(file.read_bytes())
    content[len(BEGIN) + at] ^= 0x80
    file.write_bytes(content)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"


@pytest.mark.parametrize("missing", [(0, 8), (0, 16), (10, 40), (16, 60), (0, 60)])
def test_parts_of_a_commit_that_never_came_to_disk(
    database: Maintained, tmp_path: Path, missing: tuple[int, int]
) -> None:
    """A disk writes the sectors of a record in any order, and may stop between them."""
    file = tmp_path / "db" / "journal-0"
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    first = len(written_in(file))
    database.commit(Change(2, {}, {"e": [("d", "e")]}))
    database.close()
    content = bytearray(file.read_bytes())
    begin, end = missing
    content[first + begin : first + end] = bytes(end - begin)
    file.write_bytes(content)
    writer = opened(tmp_path / "db", writes=True)
    assert (writer.epoch, [warning.code for warning in writer.warnings]) == (1, ["W940"])
    writer.commit(Change(2, {}, {"e": [("x", "y")]}))
    writer.close()
    reader = opened(tmp_path / "db")
    assert (reader.epoch, reader.warnings) == (2, [])


def test_room_that_was_never_filled_is_nothing_to_speak_of(database: Maintained, tmp_path: Path) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.close()
    with (tmp_path / "db" / "journal-0").open("ab") as file:
        file.write(bytes(100))
    reader = opened(tmp_path / "db")
    assert (reader.epoch, reader.warnings) == (1, [])


def test_records_that_there_was_no_room_for(database: Maintained, tmp_path: Path) -> None:
    """Each of these makes the file longer, and room for the next one."""
    file = tmp_path / "db" / "journal-0"
    for epoch, length in enumerate([10, 1 << 16, 10, 1 << 17, 1 << 20, 10], 1):
        before = file.stat().st_size
        database.commit(Change(epoch, {}, {"e": [("c" * length, "d")]}))
        assert (file.stat().st_size > before) == (length > 10)
    database.close()
    writer = opened(tmp_path / "db", writes=True)
    writer.commit(Change(7, {}, {"e": [("x", "y")]}))
    assert file.stat().st_size == len(file.read_bytes())
    writer.close()
    reader = opened(tmp_path / "db")
    assert (reader.epoch, reader.warnings) == (7, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
def test_the_last_bytes_of_a_disk_are_for_records(tmp_path: Path) -> None:
    """A record needs its own length; room for more is only made where there is some."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.spawnlp(os.P_WAIT, "mount", "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)):
        pytest.skip("nothing can be mounted here")
    database = Maintained(Store(disk / "db"))
    try:
        database.create(PATHS, {}, word_size=64, budget=0.2)
        with suppress(FlintlogError):
            for epoch in range(1, 100):
                database.commit(Change(epoch, {}, {"e": [(str(epoch) * 5000, "d")]}))
        assert 0 < database.epoch < 99
        epoch, disk_state = database.epoch, os.statvfs(disk)
        assert disk_state.f_bavail * disk_state.f_frsize < 16384
        database.close()
        reader = opened(disk / "db")
        assert (reader.epoch, reader.warnings, len(reader.rows("e"))) == (epoch, [], epoch)
    finally:
        database.close()
        os.spawnlp(os.P_WAIT, "umount", "umount", str(disk))


@pytest.mark.parametrize("order", ["013", "0123423", "0213", "122"])
def test_transactions_that_are_missing_are_found(database: Maintained, tmp_path: Path, order: str) -> None:
    """Every record is whole, but they are not those that were written, one after the other."""
    file = tmp_path / "db" / "journal-0"
    ends = [len(BEGIN)]
    for epoch in (1, 2, 3, 4):
        database.commit(Change(epoch, {}, {"e": [("c", str(epoch))]}))
        ends.append(len(written_in(file)))
    database.close()
    content = file.read_bytes()
    records = [content[: ends[0]], *(content[a:b] for a, b in pairwise(ends))]
    file.write_bytes(records[0] + b"".join(records[int(number)] for number in order.lstrip("0")))
    with pytest.raises(FlintlogError, match="lacks transactions") as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"


@pytest.mark.parametrize("is_end_known", [False, True])
def test_a_record_is_read_again_where_somebody_was_writing_it(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_end_known: bool
) -> None:
    """A reader may see half of it, and then the next one, which has come in between."""
    for epoch in (1, 2):
        database.commit(Change(epoch, {}, {"e": [("c", str(epoch))]}))
    record, is_first = journal._record, True

    def half_of_the_first(stream: BinaryIO) -> tuple[bytes | None, bool]:
        nonlocal is_first
        found, was_first, is_first = record(stream), is_first, False
        return (None, is_end_known) if was_first else found

    monkeypatch.setattr(journal, "_record", half_of_the_first)
    reader = opened(tmp_path / "db")
    assert (reader.epoch, reader.warnings) == (2, [])


def test_the_last_record_with_another_bit_is_left_out_and_said(database: Maintained, tmp_path: Path) -> None:
    for epoch in (1, 2):
        database.commit(Change(epoch, {}, {"e": [("c", str(epoch))]}))
    database.close()
    file = tmp_path / "db" / "journal-0"
    content = bytearray(written_in(file))
    content[-5] ^= 1
    file.write_bytes(content)
    reader = opened(tmp_path / "db")
    assert reader.epoch == 1
    assert [warning.code for warning in reader.warnings] == ["W940"]


@pytest.mark.parametrize("kept", [0, 5])
def test_an_emptied_journal_is_damage(database: Maintained, tmp_path: Path, kept: int) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.close()
    os.truncate(tmp_path / "db" / "journal-0", kept)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"


def test_a_journal_that_was_made_without_a_beginning_is_read(database: Maintained, tmp_path: Path) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.close()
    file, manifest = tmp_path / "db" / "journal-0", tmp_path / "db" / store.MANIFEST
    file.write_bytes(file.read_bytes().removeprefix(BEGIN))
    table = json.loads(manifest.read_text())
    del table["journal_begins_with"]
    manifest.write_text(json.dumps({**table, "checksum": store._checksum(table)}))
    writer = opened(tmp_path / "db", writes=True)
    assert (writer.epoch, writer.warnings) == (1, [])
    writer.commit(Change(2, {}, {"e": [("d", "e")]}))
    writer.close()
    assert len(opened(tmp_path / "db").rows("p")) == 10


@pytest.mark.parametrize("content", ["[]", "3", '{"format": 1}', "{", '{"format": 1, "files": {}}'])
def test_a_manifest_that_is_none(database: Maintained, tmp_path: Path, content: str) -> None:
    database.close()
    (tmp_path / "db" / "manifest.json").write_text(content)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) in ("E942", "E943")


def test_a_manifest_with_another_bit(database: Maintained, tmp_path: Path) -> None:
    database.close()
    manifest = tmp_path / "db" / "manifest.json"
    content = manifest.read_bytes()
    for place in range(len(content)):
        manifest.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(FlintlogError) as caught:
            opened(tmp_path / "db")
        assert code_of(caught) in ("E942", "E943")


def test_damage_is_found(database: Maintained, tmp_path: Path) -> None:
    database.close()
    file = tmp_path / "db" / "snapshot-0" / "values.arrow"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"
    file.unlink()
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E942"


def test_a_database_that_has_lost_its_manifest_is_damaged(tmp_path: Path, database: Maintained) -> None:
    """Nobody is told to make another one in its place."""
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.close()
    (tmp_path / "db" / store.MANIFEST).unlink()
    for attempt in (opened, lambda folder: Maintained(Store(folder)).create(PATHS, {}, word_size=64, budget=0.2)):
        with pytest.raises(FlintlogError, match="is missing") as problem:
            attempt(tmp_path / "db")
        assert problem.value.diagnostics[0].code == "E942"

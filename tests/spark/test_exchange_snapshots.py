"""Snapshots are read as they were written, or not at all."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from flintlog.engines.spark.exchange.errors import SnapshotDamaged
from flintlog.engines.spark.exchange.snapshots import Snapshots

TABLES = {
    "edge": [np.arange(1000), np.arange(1000) * -7],
    "empty": [np.empty(0, np.int64)],
    "flag": [np.zeros(1, np.int64)],
}


def _part(directory: Path) -> Path:
    (part,) = directory.iterdir()
    return part


@pytest.mark.parametrize("as_uri", [False, True])
def test_what_is_written_is_read(tmp_path: Path, as_uri: bool) -> None:
    place = tmp_path / "with blank and ü"
    # As it arrives in a task.
    snapshots: Snapshots = pickle.loads(pickle.dumps(Snapshots(place.as_uri() if as_uri else str(place), 4)))
    snapshots.write(7, 3, TABLES, b"round 20")
    tables, extra = snapshots.read(7, 3)
    assert extra == b"round 20"
    assert list(tables) == list(TABLES)
    for name, columns in TABLES.items():
        for column, expected in zip(tables[name], columns, strict=True):
            np.testing.assert_array_equal(column, expected)
    assert _part(place).name == "snapshot-0000000007-part-00003-of-00004"


def test_a_part_that_is_missing(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path), 2)
    snapshots.write(1, 0, TABLES)
    for number, rank in ((1, 1), (2, 0)):
        with pytest.raises(SnapshotDamaged, match="is missing"):
            snapshots.read(number, rank)
    with pytest.raises(SnapshotDamaged, match="is missing"):
        Snapshots(str(tmp_path), 3).read(1, 0)


def test_any_changed_byte_is_noticed(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path), 1)
    snapshots.write(1, 0, TABLES, b"extra")
    part = _part(tmp_path)
    whole = part.read_bytes()
    for place in [*range(0, 400, 7), *range(400, len(whole), 997), len(whole) - 1]:
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(SnapshotDamaged):
            snapshots.read(1, 0)
    part.write_bytes(whole)
    assert snapshots.read(1, 0)[1] == b"extra"


@pytest.mark.parametrize("length", [0, 1, 20, 31, 32, 100, 5000, -1])
def test_a_part_cut_short_or_grown(tmp_path: Path, length: int) -> None:
    snapshots = Snapshots(str(tmp_path), 1)
    snapshots.write(1, 0, TABLES)
    part = _part(tmp_path)
    whole = part.read_bytes()
    part.write_bytes(whole[:length] if length >= 0 else whole + b"more")
    with pytest.raises(SnapshotDamaged):
        snapshots.read(1, 0)


def test_a_part_under_the_name_of_another(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path), 2)
    snapshots.write(1, 0, TABLES)
    part = _part(tmp_path)
    part.rename(tmp_path / part.name.replace("part-00000", "part-00001"))
    with pytest.raises(SnapshotDamaged, match="another snapshot than its name says"):
        snapshots.read(1, 1)


def test_runs_share_a_directory(tmp_path: Path) -> None:
    runs = [Snapshots(str(tmp_path), 1, run) for run in ("a", "b")]
    for snapshots in runs:
        snapshots.write(1, 0, TABLES, snapshots.run.encode())
    assert [snapshots.read(1, 0)[1] for snapshots in runs] == [b"a", b"b"]
    part = _part(tmp_path / "a")
    part.rename(tmp_path / "b" / part.name)
    with pytest.raises(SnapshotDamaged, match="another snapshot"):
        runs[1].read(1, 0)
    runs[1].clear()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_old_parts_of_a_rank_go(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path), 2)
    for number in (1, 2, 3):
        for rank in (0, 1):
            snapshots.write(number, rank, TABLES)
    unfinished = tmp_path / "snapshot-0000000001-part-00000-of-00002.writing-0a1b"
    unfinished.touch()
    snapshots.prune(0, 3)
    left = sorted(path.name[:30] for path in tmp_path.iterdir())
    assert left == ["snapshot-0000000001-part-00001", "snapshot-0000000002-part-00001"] + [
        f"snapshot-0000000003-part-0000{rank}" for rank in (0, 1)
    ]


def test_clearing_leaves_what_is_not_ours(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path / "here"), 1)
    snapshots.clear()
    snapshots.write(1, 0, TABLES)
    (tmp_path / "here" / "notes").touch()
    snapshots.clear()
    assert _part(tmp_path / "here").name == "notes"


def test_a_failed_write_leaves_no_part(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path), 1)
    with pytest.raises(ValueError, match="columns of"):
        snapshots.write(1, 0, {"odd": [np.arange(3), np.arange(2)]})
    with pytest.raises(SnapshotDamaged, match="is missing"):
        snapshots.read(1, 0)


def test_a_table_without_columns_would_lose_its_rows(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`flag` has no columns"):
        Snapshots(str(tmp_path), 1).write(1, 0, {"flag": []})

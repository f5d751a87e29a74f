"""Tables that travel with tasks."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from flintlog.engines.spark.embedded import parcels
from flintlog.engines.spark.embedded.parcels import Filed, Packed, Parcels

TABLE = pa.table({"c0": pa.array([1, 2, 3], pa.int64()), "c1": pa.array([7, -1, 1 << 40], pa.int64())})


@pytest.mark.parametrize("is_local", [True, False])
def test_what_is_unpacked_is_what_was_packed(is_local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "WORTH_A_FILE", 1)
    packing = Parcels(is_local=is_local)
    for table in (TABLE, TABLE.slice(1, 0)):
        parcel = packing.pack(table)
        assert isinstance(parcel, Filed if is_local and table.nbytes else Packed)
        there = pickle.loads(pickle.dumps(parcel)).unpacked()
        assert there.to_pydict() == table.to_pydict()
    packing.clear()


def test_files_go_with_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "WORTH_A_FILE", 1)
    packing = Parcels(is_local=True)
    parcel = packing.pack(TABLE)
    assert isinstance(parcel, Filed)
    rows = parcel.unpacked()
    packing.clear()
    assert not Path(parcel.path).exists()
    assert rows.to_pydict() == TABLE.to_pydict()  # what is mapped stays

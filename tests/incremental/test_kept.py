"""What an update has changed is the same, whether it is found by what was touched or by looking at all rows."""

from __future__ import annotations

import numpy as np
import pytest

from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental import kept as room
from flintlog.incremental.kept import NEVER, Kept


@pytest.mark.parametrize("scanned", [0, 1, 1_000_000])
def test_changes_are_found_either_way(scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_SCANNED", scanned)
    kept = Kept(Relation("r", 1))
    places = kept.enter([np.arange(200)], 200)
    kept.set_round(places[:100], 1)
    kept.keep()
    assert kept.size == 100
    assert kept.changed().size == 0
    kept.set_round(places[90:100], NEVER)
    kept.set_round(places[95:110], 2)  # five that had gone come in another round
    kept.set_round(places[0:1], 2)
    kept.set_round(places[0:1], 1)  # and one is as it was
    lost, gained = kept.lost_and_gained()
    assert sorted(kept.changed()) == sorted(places[90:110])
    assert (sorted(lost), sorted(gained)) == (sorted(places[90:95]), sorted(places[100:110]))
    kept.keep()
    assert kept.size == 105
    kept.set_round(places[:50], NEVER)
    kept.take_back()
    assert kept.changed().size == 0
    assert kept.size == 105

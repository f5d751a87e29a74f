"""What tests of databases share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.incremental.stored import EDGES, PATHS

from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import Maintained


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Maintained]:
    database = Maintained(Store(tmp_path / "db"))
    database.create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
    yield database
    database.close()

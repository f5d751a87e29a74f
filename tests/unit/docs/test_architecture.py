"""ARCHITECTURE.md has a short row for every room, and names modules that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "flintlog"
ROWS = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE))
ROOMS = sorted(file.parent.relative_to(SOURCE).as_posix() + "/" for file in SOURCE.rglob("*/__init__.py"))


def test_every_room_has_a_row_and_every_row_a_room() -> None:
    assert {room for room in ROWS if room.endswith("/")} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_row_is_short_and_names_the_way_in(room: str) -> None:
    assert len(ROWS[room]) <= 140
    ways = re.findall(r"\*`(\w+)`\*", ROWS[room])
    assert ways
    for way in ways:
        assert (SOURCE / room / f"{way}.py").is_file(), f"{room} has no module {way}"

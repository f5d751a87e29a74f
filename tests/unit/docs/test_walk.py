"""Every step of docs/dev/walk.md names a function that stands in the file it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WALKS = (ROOT / "docs" / "dev" / "walk.md").read_text().split("\n## ")[1:]
STEPS = [step for walk in WALKS for step in re.split(r"\n(?=\d+\. )", walk)[1:]]


def test_there_are_three_walks_of_at_most_twelve_steps() -> None:
    assert len(WALKS) == 3
    for walk in WALKS:
        assert 5 <= len(re.findall(r"^\d+\. ", walk, re.MULTILINE)) <= 12


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[:50])
def test_a_step_stands_in_the_source(step: str) -> None:
    files = re.findall(r"`([\w/]+\.py)`", step)
    assert files
    named = re.search(r"`([\w/]+\.py)` › (`\w+`(?:(?:, | and )`\w+`)*)", step)
    for file in files:
        assert (ROOT / "src" / "flintlog" / file).is_file(), f"there is no {file}"
    if named is not None:
        source = (ROOT / "src" / "flintlog" / named[1]).read_text()
        for name in re.findall(r"`(\w+)`", named[2]):
            assert re.search(rf"^\s*(?:def|class) {name}\b", source, re.MULTILINE), f"{named[1]} has no {name}"

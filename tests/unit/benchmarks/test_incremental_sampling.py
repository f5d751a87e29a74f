"""Facts that are drawn, and the folders that are made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.incremental.sampling import Lines, TooFew, count, draw, write, write_without
from benchmarks.incremental.workloads import WORKLOADS, Workload

FILES = ("Arc.facts", "Node.facts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "Arc.facts").write_text("".join(f"{x}\t{x + 1}\n" for x in range(90)))
    (made / "Node.facts").write_text("\n".join(map(str, range(10))))  # its last line does not end
    (made / "Other.facts").write_text("read by nobody\n")
    return made


def facts_in(folder: Path) -> set[tuple[str, bytes]]:
    return {(path.name, line) for path in folder.iterdir() for line in path.read_bytes().splitlines()}


def facts_of(lines: Lines) -> set[tuple[str, bytes]]:
    return {(file, line) for file, facts in lines.items() for line in facts}


def test_sets_share_nothing_and_have_their_sizes(folder: Path) -> None:
    sets = [facts_of(lines) for lines in draw(folder, FILES, [30, 10, 5], "seed")]
    assert [len(facts) for facts in sets] == [30, 10, 5]
    assert len(set.union(*sets)) == 45


def test_a_set_and_the_rest_are_all_facts(folder: Path, tmp_path: Path) -> None:
    one, other = draw(folder, FILES, [20, 20], "seed")
    drawn = facts_in(write(one, tmp_path / "one")) | facts_in(write(other, tmp_path / "other"))
    rest = facts_in(write_without(folder, FILES, [one, other], tmp_path / "rest"))
    assert drawn == facts_of(one) | facts_of(other)
    assert not drawn & rest
    everything = {fact for fact in facts_in(folder) if fact[0] in FILES}
    assert drawn | rest == everything
    assert len(everything) == count(folder, FILES) == 100


def test_all_relations_are_drawn_from(folder: Path) -> None:
    (drawn,) = draw(folder, FILES, [100], "seed")
    assert {file: len(lines) for file, lines in drawn.items()} == {"Arc.facts": 90, "Node.facts": 10}
    # Of ten facts one is a node's on average, not five.
    nodes = sum(len(draw(folder, FILES, [10], str(seed))[0].get("Node.facts", ())) for seed in range(50))
    assert 25 < nodes < 85


def test_a_seed_gives_the_same_facts_again(folder: Path) -> None:
    (once,), (again,), (other,) = (draw(folder, FILES, [10], seed) for seed in ("a", "a", "b"))
    assert once == again != other


def test_more_than_there_are(folder: Path) -> None:
    with pytest.raises(TooFew, match="101 of 100 facts"):
        draw(folder, FILES, [100, 1], "seed")


def test_a_file_that_loses_nothing_is_not_copied(folder: Path, tmp_path: Path) -> None:
    rest = write_without(folder, FILES, [{"Node.facts": [b"3"]}], tmp_path / "rest")
    assert (rest / "Arc.facts").is_symlink()
    assert (rest / "Node.facts").read_text().split() == list("012456789")


def test_large_updates_are_the_same_share_of_smaller_data() -> None:
    galen = WORKLOADS["galen:galen"]
    assert [galen.facts(size, there=108_766) for size in galen.sizes] == [10, 1_114, 4_455, 7_796, 11_138]
    assert [galen.facts(size, there=100) for size in galen.sizes] == [10] * 5
    assert Workload((10, 1_000)).facts(1_000, there=5) == 1_000

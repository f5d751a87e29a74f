"""Every command, on data of a few rows."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks.incremental.__main__ import main
from benchmarks.incremental.elastic import EPOCHS
from benchmarks.incremental.results import read
from benchmarks.incremental.script import Step
from benchmarks.incremental.worker import Player, WrongAnswer
from tests.unit.benchmarks.test_owl2rl import TERMINOLOGY, random_facts, triples_of

import flintlog as fl

TC = """
.decl Arc(x: number, y: number)
.input Arc
.decl Tc(x: number, y: number)
Tc(x, y) :- Arc(x, y).
Tc(x, z) :- Tc(x, y), Arc(y, z).
"""


def random_rows(seed: int, columns: int, count: int, values: int) -> list[tuple[Any, ...]]:
    random = Random(seed)
    return sorted({tuple(random.randrange(values) for _ in range(columns)) for _ in range(count)})


def write_facts(file: Path, rows: list[tuple[Any, ...]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    return file.parent


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data sets that are called like the real ones."""
    folder = tmp_path_factory.mktemp("data")
    write_facts(folder / "RAND-1k" / "Arc.facts", random_rows(1, 2, 60, 30))
    write_facts(folder / "lubm1-rdfs" / "T.facts", [*triples_of(TERMINOLOGY), *sorted(set(random_facts(1)))])
    for number, (name, columns) in enumerate({"P": 2, "Q": 3, "R": 3, "C": 3, "U": 3, "S": 2}.items()):
        rows = [tuple(sorted(row)) for row in random_rows(number, columns, 30, 40)]  # an ontology without cycles
        write_facts(folder / "galen" / f"{name}.facts", sorted(set(rows)))
    return folder


@pytest.fixture
def measured(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calls a command on one case; returns what its file holds."""
    monkeypatch.setattr("benchmarks.incremental.results.FOLDER", tmp_path / "build")
    # Real data that was unpacked here once would be found too, and measured for minutes.
    monkeypatch.setattr("benchmarks.incremental.__main__.UNPACKED", tmp_path / "unpacked")

    def run(command: str, case: str, *options: str) -> Any:
        file = tmp_path / f"{command}.json"
        assert main([command, "--data", str(data), "--only", case, "--json", str(file), *options]) == 0
        return read(file)

    return run


def test_table3(measured: Any, tmp_path: Path) -> None:
    (row,) = measured("table3", "owl2rl", "--batches", "75", "--sets", "2").rows
    assert (row.outcome.status, row.percent, row.facts) == ("ok", 75, 8)
    assert [len(row.outcome.figures[key].wall) for key in ("Mat", "+", "−", "fsync")] == [2, 2, 2, 2]
    assert row.outcome.figures["+"].changed == row.outcome.figures["−"].changed != [0, 0]
    assert list((tmp_path / "build" / "work").glob("tmp*")) == []


def test_updates(measured: Any) -> None:
    (row,) = measured("updates", "galen", "--sizes", "100000", "--sets", "2").rows
    assert (row.outcome.status, row.size, row.facts) == ("ok", 100_000, round(row.there / 9.76552))
    assert len(row.outcome.figures["bootstrap"].wall) == 1
    assert row.outcome.figures["−"].changed == row.outcome.figures["+"].changed != [0, 0]


def test_elastic_and_its_page(measured: Any, tmp_path: Path) -> None:
    found = measured("elastic", "galen", "--strategies", "auto,recompute", "--repeat", "1")
    for row in found.rows:
        assert (row.outcome.status, sorted(row.outcome.figures, key=int)) == ("ok", list(EPOCHS))
    page = tmp_path / "page.md"
    assert main(["report", str(tmp_path / "elastic.json"), "-o", str(page)]) == 0
    assert "| galen : galen | 10 / 18 |" in page.read_text()


def test_memory(measured: Any) -> None:
    (row,) = measured("memory", "tc:RAND-1k", "--repeat", "1").rows
    assert [outcome.status for _, outcome in row.outcomes()] == ["ok", "ok"]
    assert row.run[0].mb > 10
    assert row.database[0].mb > 10
    assert min(*row.seconds()) > 0


def test_a_wrong_state_is_noticed(tmp_path: Path) -> None:
    program = tmp_path / "tc.dl"
    program.write_text(TC)
    full = write_facts(tmp_path / "full" / "Arc.facts", [(1, 2), (2, 3), (3, 4)])
    player = Player(program, tmp_path)
    player.play(Step("create", full))
    gone = write_facts(tmp_path / "gone" / "Arc.facts", [(2, 3)])
    assert player.play(Step("delete", gone))["changed"] == 4
    with pytest.raises(WrongAnswer, match="Arc has 2 rows, not 3; Tc has 2 rows, not 6"):
        player.play(Step("check", full))
    player.play(Step("insert", gone, strategy="bootstrap"))
    player.play(Step("check", full))
    with pytest.raises(fl.FlintlogError, match="there is no strategy"):
        player.play(Step("insert", gone, strategy="guess"))
    player.close()


def test_missing_data_leaves_out_the_case(measured: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert measured("table3", "tc:RMAT-1k", "--limit", "1").rows == []
    assert "no RMAT-1k/" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["table3", "--only", "nothing", "--data", "."],
        ["memory", "--data", "no/such/directory"],
        ["report", "no-such-file.json"],
    ],
)
def test_mistakes_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_strategies_have_names(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["elastic", "--strategies", "guess"], ["updates", "--strategies", "recompute"]):
        with pytest.raises(SystemExit):
            main(arguments)
    assert "there are auto, update" in capsys.readouterr().err

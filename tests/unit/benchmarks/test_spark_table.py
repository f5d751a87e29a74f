"""Pages of results on Spark, from canned figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.results import BadResults, Outcome
from benchmarks.spark import growth, page, results, rounds, spill, table
from benchmarks.spark.compare import judge
from benchmarks.spark.contestants import Reply
from benchmarks.spark.results import Comparison, RowResult

MACHINE = {
    "cpu": "a processor",
    "cores": 2,
    "memory_gib": 8.0,
    "system": "Linux",
    "python": "3.11",
    "load": 0.1,
    "revision": "abc",
}
SETTINGS = {"repeat": 3, "limit": 120.0, "master": "local[2]", "memory": "3g", "spark": "4.3.0"}
CONTESTANTS = ["hand-written", "WITH RECURSIVE", "auto", "dataframe", "decomposed"]


def ok(*seconds: float) -> Outcome:
    return Outcome(wall=list(seconds))


def canned() -> Comparison:
    shallow = {
        "hand-written": ok(9.0, 10.0, 30.0),
        "WITH RECURSIVE": Outcome("wrong", "Tc is 2, expected 3000"),
        "auto": ok(0.5),
        "dataframe": ok(12.5),
        "decomposed": Outcome("cannot", "no column keeps its value"),
    }
    deep = {
        "hand-written": Outcome("timeout", "not done after 120 s"),
        "WITH RECURSIVE": Outcome("timeout", "not done after 120 s"),
        "auto": ok(4.0),
        "dataframe": ok(60.0),
        "decomposed": ok(1.0),
    }
    rows = [
        RowResult("tc", "small", {"Tc": "3000"}, 12, 0.2, shallow, {"auto": ["Tc: single, it is small"]}),
        RowResult("sssp", "deep", {"Sssp": "21048", "Check": "7"}, 576, 0.2, deep),
    ]
    return Comparison("today", dict(MACHINE), dict(SETTINGS), CONTESTANTS, rows)


def test_the_table_has_times_and_ratios_to_the_loop() -> None:
    lines = table.markdown(canned()).splitlines()
    assert "| tc : small | Tc 3,000 | 12 | 10.00 | **wrong** | 0.50 (20×) | 12.50 (0.8×) | – |" in lines
    assert (
        "| sssp : deep | Sssp 21,048 | 576 | > 120 | > 120 | 4.00 (> 30×) | 60.00 (> 2.0×) | 1.00 (> 120×) |" in lines
    )


def test_goals_that_are_missed_are_named() -> None:
    text = table.markdown(canned())
    assert "met 2 of 4 times" in text
    assert "- tc : small, dataframe: 0.8×, asked for 1×" in text
    assert "- sssp : deep, dataframe: > 2.0×, asked for 3×" in text
    assert "- tc : small, WITH RECURSIVE: wrong, Tc is 2, expected 3000" in text


def test_a_busy_machine_is_noted() -> None:
    busy = canned()
    busy.machine["load"] = 4.0
    assert "The machine was busy" in table.markdown(busy)
    assert "The machine was busy" not in table.markdown(canned())


def test_a_file_gives_the_same_table(tmp_path: Path) -> None:
    file = results.save("compare", canned(), tmp_path / "compare.json")
    assert page.markdown(results.read(file)) == table.markdown(canned())


def test_the_page_has_a_chapter_for_every_command(tmp_path: Path) -> None:
    cost = rounds.Cost("resident", [500, 5_500, 10_500], 5.0, [1.0, 2.0, 3.5], 0.2, 0.3)
    late = rounds.Cost("single", [500, 5_500, 10_500], 0.5, [1.0], message="not done after 600 s")
    grown = growth.Growth("single", [10, 20, 40, 80], [5, 10, 20, 40], [1.0, 2.0, 4.0, 9.5])
    spilt = spill.Spill(MACHINE, 36_000_000, 2 << 30, 300.0, 3 << 30, 1 << 30, 5 << 30, [1 << 30, 1 << 29], [])
    files = [
        results.save("spill", spilt, tmp_path / "spill.json"),
        results.save("rounds", rounds.Rounds(MACHINE, {}, [cost, late]), tmp_path / "rounds.json"),
        results.save("growth", growth.Growths(MACHINE, {}, [grown]), tmp_path / "growth.json"),
        results.save("compare", canned(), tmp_path / "compare.json"),
    ]
    text = page.page(files)
    chapters = [line for line in text.splitlines() if line.startswith("## ")]
    assert chapters == [f"## {title}" for title in page.TITLES.values()]
    assert "| resident | 500, 5,500, 10,500 | 1.00, 2.00, 3.50 | 0.20 | 0.30 | ≤ 5 | yes |" in text
    assert "| single | 500, 5,500, 10,500 | not done after 600 s |  |  | ≤ 0.5 | **no** |" in text
    assert "| single | 10 to 80 | 40 | 1.00 | 2.00 | 4.00 | 9.50 | 9.5 | 2.4 | **no** |" in text
    assert "| peak memory of the executors (1 GiB of heap each) | 1,024 MiB and 512 MiB |" in text


def test_a_comparison_in_pieces_is_one_table(tmp_path: Path) -> None:
    first, second = canned(), canned()
    second.contestants, second.rows = ["hand-written", "auto"], second.rows[1:]
    del second.rows[0].outcomes["WITH RECURSIVE"], first.rows[1:]
    files = [results.save("compare", piece, tmp_path / f"{i}.json") for i, piece in enumerate((first, second))]
    lines = page.page(files).splitlines()
    assert any(line.startswith("| tc : small |") for line in lines)
    assert any(line.startswith("| sssp : deep | Sssp 21,048 | 576 | > 120 |  | 4.00") for line in lines)
    second.machine["revision"] = "another"
    results.save("compare", second, files[1])
    with pytest.raises(BadResults, match="do not belong together"):
        page.page(files)


def test_files_that_no_command_wrote(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text, message in (("[]", "not a result"), ("{", "not JSON"), ('{"kind": "x"}', "no command `x`")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadResults, match=message):
            page.page([file])
    with pytest.raises(BadResults, match="cannot read"):
        page.page([tmp_path / "none.json"])


@pytest.mark.parametrize(
    ("contestant", "printed", "strategies", "status"),
    [
        ("auto", "3", {"Tc": "single"}, "ok"),
        ("resident", "3", {"Tc": "resident"}, "ok"),
        ("resident", "3", {"Tc": "single"}, "cannot"),
        ("resident", "4", {"Tc": "resident"}, "wrong"),
        ("hand-written", "3", {}, "ok"),
    ],
)
def test_an_answer_is_judged_before_its_time_counts(contestant, printed, strategies, status) -> None:
    reply = Reply(1.0, {"Tc": printed}, strategies=strategies, notes=["Tc: single, not resident: too odd"])
    found, message = judge(contestant, reply, {"Tc": "3"})
    assert found == status
    assert message == {"cannot": "Tc: single, not resident: too odd", "wrong": "Tc is 4, expected 3"}.get(status, "")


def test_what_went_to_disk_is_read_from_the_event_log() -> None:
    metrics = {"Disk Bytes Spilled": 5, "Shuffle Write Metrics": {"Shuffle Bytes Written": 7}}

    def block(name: str, size: int) -> dict[str, object]:
        info = {"Block Manager ID": {"Executor ID": "1"}, "Block ID": name, "Disk Size": size}
        return {"Event": "SparkListenerBlockUpdated", "Block Updated Info": info}

    events = [
        {"Event": "SparkListenerTaskEnd", "Task Metrics": metrics},
        block("rdd_1_0", 10),
        block("rdd_1_1", 20),
        block("rdd_1_0", 0),
        {"Event": "SparkListenerTaskEnd"},
        {"Event": "SparkListenerJobEnd"},
    ]
    assert spill.disk_use(map(json.dumps, events)) == (5, 30, 7)

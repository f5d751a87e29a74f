"""What an engine that reads sources itself is told, and how its results are written; with an engine that listens."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import flintlog as fl
from flintlog.api.run import check_outputs, write_results
from flintlog.cli.main import main
from flintlog.engines.protocol import ENGINES, Evaluation
from flintlog.ir.program import IoDirective, Program
from flintlog.types import Row

TEXT = """
.decl e, f, g(x: number)
.input e, f
g(x) :- e(x), f(x).
.output g
.printsize e
"""


class Rows(Collection[Row]):
    def __init__(self, written: list[tuple[str, Path]]) -> None:
        self.written = written

    def write_to(self, directive: IoDirective, output_dir: Path) -> bool:
        self.written.append((directive.relation, output_dir))
        return True

    def frame(self) -> str:
        return "a frame"

    def __len__(self) -> int:
        return 7

    def __iter__(self) -> Iterator[Row]:
        raise AssertionError("nobody asked for rows")

    def __contains__(self, row: object) -> bool:
        return False


class Listener:
    reads_columns = reads_sources = knows_shared = True

    def __init__(self) -> None:
        self.heard: list[Evaluation] = []
        self.written: list[tuple[str, Path]] = []
        self.is_closed = False

    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        self.heard.append(evaluation)
        return dict.fromkeys(program.relations, Rows(self.written))

    def close(self) -> None:
        self.is_closed = True


class DataFrame:
    """What a frame of Spark's looks like from outside."""

    __module__ = "pyspark.sql.classic.dataframe"
    sparkSession = "the session of the frame"  # noqa: N815 - as pyspark spells it


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Listener:
    """Stands for the engine `spark`."""
    listener = Listener()
    module: Any = ModuleType("listening_engine")
    module.engine = lambda threads: listener
    monkeypatch.setitem(sys.modules, "listening_engine", module)
    monkeypatch.setitem(ENGINES, "spark", "listening_engine")
    return listener


def test_sources_go_to_the_engine_unread(engine: Listener):
    fl.Program(TEXT).run(engine="spark", facts_dir="nowhere")
    (heard,) = engine.heard
    assert [source.relation for source in heard.sources] == ["e", "f"]
    assert (heard.facts, heard.options.facts_dir, heard.options.wanted) == ({}, Path("nowhere"), None)


def test_facts_in_hand_take_the_place_of_sources(engine: Listener):
    frame = DataFrame()
    fl.Program(TEXT).run(e=frame, f=[1, 2])
    (heard,) = engine.heard
    assert heard.sources == ()
    assert heard.facts == {"e": frame, "f": [(1,), (2,)]}
    assert heard.options.spark.session == "the session of the frame"


def test_a_path_becomes_a_source(engine: Listener):
    fl.Program(TEXT).run(engine="spark", e="some/e.parquet", f="s3a://bucket/f.csv")
    (heard,) = engine.heard
    expected = [
        {"IO": "parquet", "filename": str(Path("some/e.parquet").absolute())},
        {"IO": "file", "filename": "s3a://bucket/f.csv", "delimiter": ","},
    ]
    assert [dict(source.params) for source in heard.sources] == expected


def test_an_address_for_a_directory_goes_into_the_sources(engine: Listener):
    fl.Program(TEXT).run(facts_dir="hdfs://host/data/")
    (heard,) = engine.heard
    names = [dict(source.params)["filename"] for source in heard.sources]
    assert names == ["hdfs://host/data/e.facts", "hdfs://host/data/f.facts"]


def test_results_are_frames(engine: Listener):
    result = fl.Program(TEXT).run(engine="spark")
    assert result["g"].spark() == "a frame"
    assert repr(result["g"]) == "<g(x): on Spark>"


def test_other_engines_have_no_frames():
    with pytest.raises(fl.FlintlogError, match="E926"):
        fl.Program(".decl a(x: number)\na(1).").run()["a"].spark()


def test_rows_are_written_where_they_are(engine: Listener, capsys: pytest.CaptureFixture[str]):
    program = fl.Program(TEXT).compilation.program
    rows: dict[str, Collection[Row]] = dict.fromkeys(program.relations, Rows(engine.written))
    write_results(program, rows, Path("out"))
    assert engine.written == [("g", Path("out"))]
    assert capsys.readouterr().out == "e\t7\n"


def test_the_command_line_says_what_it_wants(engine: Listener, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "p.dl").write_text(TEXT)
    options = ["--partitions", "3", "--strategy", "resident", "--checkpoint-dir", "c", "--checkpoint-every", "5"]
    assert main(["run", str(tmp_path / "p.dl"), "-F", str(tmp_path), *options, "--bad-records", "bad"]) == 0
    (heard,) = engine.heard
    assert (heard.options.wanted, heard.options.sized) == (frozenset({"g"}), frozenset({"e"}))
    said = heard.options.spark
    assert (said.partitions, said.strategy, said.checkpoint_dir, said.checkpoint_every) == (3, "resident", "c", 5)
    assert (said.bad_records, said.master) == ("bad", None)
    assert capsys.readouterr().err == "engine: spark (a strategy is given)\n"
    assert engine.is_closed


def test_threads_of_the_engine_spark_are_slots(engine: Listener, tmp_path: Path):
    (tmp_path / "p.dl").write_text(TEXT)
    for jobs in ("2", "auto"):
        assert main(["run", str(tmp_path / "p.dl"), "-F", str(tmp_path), "--engine", "spark", "-j", jobs]) == 0
    assert [heard.options.spark.master for heard in engine.heard] == ["local[2]", "local[*]"]


def test_an_address_of_this_machine_is_a_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from flintlog.cli.main import main

    facts, out = tmp_path / "facts", tmp_path / "out"
    facts.mkdir()
    (facts / "e.facts").write_text("1\n")
    program = tmp_path / "p.dl"
    program.write_text(f"""
        .decl e(x: number) .input e
        .decl f(x: number) .output f
        .decl g(x: number) .output g(filename="file://{tmp_path}/whole.csv")
        f(x) :- e(x). g(x) :- e(x).
    """)
    assert main(["run", str(program), "-F", f"file://{facts}", "-D", f"file:{out}"]) == 0
    assert (out / "f.csv").read_text() == (tmp_path / "whole.csv").read_text() == "1\n"
    capsys.readouterr()


def test_a_mode_that_spark_does_not_have(engine: Listener, tmp_path: Path):
    program = fl.Program(".decl a(x: number) a(1). .output a(IO=parquet, mode=overwrit)").compilation.program
    with pytest.raises(fl.FlintlogError, match=r"no mode `overwrit`(.|\n)*did you mean `overwrite`"):
        check_outputs(program, tmp_path, "spark")

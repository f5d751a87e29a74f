"""What `auto` stands for: Spark where somebody asks for it, where a source needs it, or where memory will not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flintlog as fl
from flintlog.api.choose_engine import Choice, choose_engine, spark_options
from flintlog.engines.protocol import RunOptions
from flintlog.engines.spark_options import SparkOptions

PLAIN = ".decl e(x: number)\n.input e\n.output e"


def chosen(
    text: str = PLAIN,
    facts_dir: Path = Path(),
    *,
    given: dict[str, Any] | None = None,
    memory_limit: int | None = None,
    **options: Any,
) -> Choice:
    io = fl.Program(text).compilation.program.io
    said = RunOptions(facts_dir=facts_dir, memory_limit=memory_limit, spark=spark_options(**options))
    return choose_engine("auto", said, io, given or {})


def frame(module: str) -> Any:
    """Something that looks like a frame of a library's."""
    return type("DataFrame", (), {"__module__": module})()


def test_a_plain_program_is_for_the_embedded_engine():
    assert chosen().engine == "local"
    assert chosen(given={"e": [(1,)]}).engine == "local"
    assert chosen(given={"e": frame("pandas.core.frame")}).engine == "local"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"master": "local[2]"}, "a master is given"),
        ({"strategy": "resident"}, "a strategy is given"),
        ({"partitions": 3}, "a number of partitions is given"),
        ({"checkpoint_dir": "here"}, "a checkpoint directory is given"),
        ({"bad_records": "aside"}, "a place for bad records is given"),
    ],
)
def test_who_speaks_to_spark_gets_it(options: dict[str, Any], reason: str):
    assert chosen(**options) == Choice("spark", reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('.decl e(x: number)\n.input e(IO=jdbc, url="u", table="t")', "`e` is read with IO=jdbc"),
        (".decl e(x: number)\n.input e(IO=table)", "`e` is read with IO=table"),
        (".decl e(x: number)\ne(1).\n.output e(IO=table)", "`e` is written with IO=table"),
        ('.decl e(x: number)\n.input e(filename="s3a://b/e.facts")', "`e` is read at s3a://b/e.facts"),
        ('.decl e(x: number)\ne(1).\n.output e(filename="hdfs://h/e")', "`e` is written at hdfs://h/e"),
    ],
)
def test_sources_and_sinks_that_need_spark(text: str, reason: str):
    assert chosen(text) == Choice("spark", reason)


def test_a_source_that_is_given_otherwise_needs_nothing():
    assert chosen(".decl e(x: number)\n.input e(IO=table)", given={"e": [(1,)]}).engine == "local"


def test_frames_and_addresses_in_hand_need_spark():
    assert chosen(given={"e": frame("pyspark.sql.classic.dataframe")}) == Choice(
        "spark", "`e` is a DataFrame of Spark's"
    )
    assert chosen(given={"e": frame("pyspark.sql.connect.dataframe")}).engine == "spark"
    assert chosen(given={"e": "s3a://bucket/e.parquet"}) == Choice("spark", "`e` is read from s3a://bucket/e.parquet")


def test_a_directory_in_a_files_place_is_sparks(tmp_path: Path):
    (tmp_path / "e.facts").mkdir()
    assert chosen(facts_dir=tmp_path).engine == "spark"
    assert chosen(given={"e": tmp_path}).engine == "local"  # which says that it is no file


def test_a_pattern_for_several_files_is_sparks(tmp_path: Path):
    text = '.decl e(x: number)\n.input e(filename="e-*.facts")'
    assert chosen(text, tmp_path) == Choice("spark", f"`e` is read from files like {tmp_path / 'e-*.facts'}")
    (tmp_path / "e-*.facts").write_text("1\n")
    assert chosen(text, tmp_path).engine == "local"


def test_inputs_beyond_the_memory_budget(tmp_path: Path):
    (tmp_path / "e.facts").write_text("1\n" * 1000)
    assert chosen(facts_dir=tmp_path, memory_limit=2000).engine == "local"
    reason = "inputs of 2.0 KiB exceed the memory budget of 1.5 KiB"
    assert chosen(facts_dir=tmp_path, memory_limit=1536) == Choice("spark", reason)
    assert chosen(facts_dir=tmp_path, memory_limit=1536, given={"e": [(1,)]}).engine == "local"


def test_without_spark_large_inputs_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "e.facts").write_text("1\n" * 1000)
    monkeypatch.setattr("flintlog.api.choose_engine.find_spec", lambda name: None)
    choice = chosen(facts_dir=tmp_path, memory_limit=1536)
    assert choice.engine == "local"
    assert "pip install 'flintlog[spark]'" in choice.reason


def test_what_the_user_chooses_is_not_explained():
    assert choose_engine("naive", RunOptions(), (), {}) == Choice("naive", "")


def test_another_engine_has_no_options_of_sparks():
    with pytest.raises(fl.FlintlogError, match="E925"):
        choose_engine("local", RunOptions(spark=SparkOptions(partitions=2)), (), {})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"strategy": "residnet"}, "did you mean `resident`?"),
        ({"partitions": 0}, "`0` is no value for partitions"),
        ({"partitions": True}, "`True` is no value for partitions"),
        ({"checkpoint_every": -1}, "`-1` is no value for checkpoint_every"),
        ({"session": [(1, 2)]}, "give a SparkSession"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, Any], said: str):
    with pytest.raises(fl.FlintlogError) as caught:
        spark_options(**options)
    assert "error[E925]" in str(caught.value)
    assert said in str(caught.value)

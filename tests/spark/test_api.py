"""DataFrames in, DataFrames out; other forms of facts beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import flintlog as fl
from flintlog.api.run import evaluate
from flintlog.engines.protocol import RunOptions
from flintlog.engines.spark.embedded.jobs import Jobs
from flintlog.engines.spark.engine import SparkEngine
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = fl.Program("""
.decl edge(x: number, y: number)
.input edge
.decl name(x: number, text: symbol)
.input name
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl reached(text: symbol, by: unsigned)
reached(t, to_unsigned(c)) :- name(x, t), c = count : { path(_, x) }, c > 0.
""")
EDGES = [(1, 2), (2, 3), (3, 4)]
NAMES = [(1, "one"), (3, "three"), (4, "four")]
PATHS = {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}
REACHED = {("three", 2), ("four", 3)}


def test_frames_in_frames_out(spark: SparkSession):
    edges = spark.createDataFrame(EDGES, "x long, y long")
    names = spark.createDataFrame(NAMES, "x int, text string")
    result = PROGRAM.run(edge=edges, name=names, spark=spark)
    paths, reached = result["path"].spark(), result["reached"].spark()
    assert paths.dtypes == [("x", "bigint"), ("y", "bigint")]
    assert set(map(tuple, paths.collect())) == PATHS
    assert reached.dtypes == [("text", "string"), ("by", "decimal(20,0)")]
    assert {(row.text, int(row.by)) for row in reached.collect()} == REACHED
    assert repr(result["path"]) == "<path(x, y): on Spark>"


def test_a_frame_is_enough_to_run_on_spark(spark: SparkSession):
    result = PROGRAM.run(edge=spark.createDataFrame(EDGES, "x long, y long"), name=NAMES)
    assert set(map(tuple, result["path"].spark().collect())) == PATHS


def test_columns_by_name_whatever_their_order(spark: SparkSession):
    turned = spark.createDataFrame([(y, x) for x, y in EDGES], "y long, x long")
    assert set(PROGRAM.run(edge=turned, name=NAMES)["path"]) == PATHS


def forms_of_names(folder: Path) -> dict[str, Any]:
    (folder / "name.facts").write_text("".join(f"{x}\t{text}\n" for x, text in NAMES))
    columns = {"x": [x for x, _ in NAMES], "text": [text for _, text in NAMES]}
    return {
        "rows": NAMES,
        "a dict": columns,
        "pandas": pd.DataFrame(columns),
        "Arrow": pa.table(columns),
        "a path": folder / "name.facts",
    }


@pytest.mark.parametrize("form", ["rows", "a dict", "pandas", "Arrow", "a path"])
def test_other_forms_beside_a_frame(spark: SparkSession, form: str, tmp_path: Path):
    edges = spark.createDataFrame(EDGES, "x long, y long")
    result = PROGRAM.run(edge=edges, name=forms_of_names(tmp_path)[form])
    assert set(result["reached"]) == REACHED


def test_results_come_to_the_driver_in_every_form(spark: SparkSession):
    result = PROGRAM.run(edge=EDGES, name=NAMES, spark=spark)
    assert len(result["path"]) == len(PATHS)
    assert (1, 4) in result["path"]
    assert sorted(result["reached"].to_arrow().to_pylist(), key=lambda row: row["by"]) == [
        {"text": "three", "by": 2},
        {"text": "four", "by": 3},
    ]
    assert set(result["path"].to_pandas().itertuples(index=False, name=None)) == PATHS


def test_inputs_are_read_by_spark(spark: SparkSession, tmp_path: Path):
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n3\t4\n")
    (tmp_path / "name.facts").write_text("3\tthree\n4\tfour\n")
    result = PROGRAM.run(spark=spark, facts_dir=tmp_path)
    assert set(result["reached"]) == REACHED


def test_a_frame_may_go_to_another_engine(spark: SparkSession):
    edges = spark.createDataFrame(EDGES, "x long, y long")
    assert set(PROGRAM.run(edge=edges, name=NAMES, engine="local")["path"]) == PATHS


@pytest.mark.parametrize("strategy", ["dataframe", "decomposed", "resident", "single"])
def test_a_strategy_is_asked_for(spark: SparkSession, strategy: str):
    result = PROGRAM.run(edge=EDGES, name=NAMES, spark=spark, strategy=strategy, partitions=2)
    assert (set(result["path"]), set(result["reached"])) == (PATHS, REACHED)


def test_mistakes_in_frames_are_said(spark: SparkSession):
    with pytest.raises(fl.FlintlogError):
        PROGRAM.run(edge=spark.createDataFrame([("a", 1)], "x string, y long"), name=NAMES)
    with pytest.raises(fl.FlintlogError):
        PROGRAM.run(edge=spark.createDataFrame([(1,)], "x long"), name=NAMES)
    with pytest.raises(fl.FlintlogError, match="E909"):
        PROGRAM.run(egde=spark.createDataFrame(EDGES, "x long, y long"))


def test_checkpoints_that_cannot_be_written_are_known_at_once(spark: SparkSession, tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(fl.FlintlogError, match=r"E712.*cannot write checkpoints to `.*file`"):
        PROGRAM.run(edge=EDGES, name=NAMES, spark=spark, checkpoint_dir=tmp_path / "file")


def test_resident_tasks_wait_for_lost_executors(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    """Spark does not try again if slots are missing when it looks at the stage of the rows that tasks are to have."""
    finish, lost, notes = Jobs._finish, iter([True, True]), list[str]()

    def with_too_few_slots(self: Jobs, *arguments: Any, **options: Any) -> None:
        if options.get("barrier") and next(lost, False):
            raise PySparkException("[SPARK-24819]: Barrier execution mode does not allow run a barrier stage")
        finish(self, *arguments, **options)

    monkeypatch.setattr(Jobs, "_finish", with_too_few_slots)
    options = RunOptions(
        spark=SparkOptions(session=spark, strategy="resident"),
        progress=lambda progress: notes.append(progress.note) if progress.note else None,
    )
    given = {"edge": EDGES, "name": NAMES}
    assert {*evaluate(PROGRAM.compilation.program, SparkEngine(), options, given=given)["path"]} == PATHS
    assert len([note for note in notes if "an executor was lost" in note]) == 2

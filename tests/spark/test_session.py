"""A session of the caller's stays as it is; one that is made has what Flintlog needs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.sessions import session
from flintlog.engines.spark.sessions.session import ARROW_ROWS, interruptible, open_session
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_second_run_finds_the_session(spark: SparkSession):
    assert open_session(SparkOptions(), "again")[0] is spark


def test_tasks_run_in_this_interpreter(spark: SparkSession):
    def interpreter(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"python": [sys.executable]})

    rows = spark.range(1).mapInArrow(interpreter, "python string").collect()
    assert [row.python for row in rows] == [sys.executable]


def test_rows_from_arrow_are_not_cut_into_small_partitions(spark: SparkSession):
    table = pa.table({"x": range(ARROW_ROWS)})
    assert spark.createDataFrame(table).rdd.getNumPartitions() <= 2


def test_without_pyspark_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session, "find_spec", lambda name: None if name == "pyspark" else object())
    with pytest.raises(FlintlogError) as caught:
        open_session(SparkOptions(), "none")
    said = "error[E920]: the engine `spark` needs pyspark\n  note: pip install 'flintlog[spark]'"
    assert str(caught.value) == said


def test_a_session_that_does_not_fit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(FlintlogError, match="E924"):
        open_session(SparkOptions(session=spark, master="local[7]"), "another")
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)  # which is what stopping it does
    with pytest.raises(FlintlogError, match=r"E923.*has been stopped"):
        open_session(SparkOptions(session=spark), "stopped")


def test_a_session_on_another_master_is_not_replaced(spark: SparkSession):
    with pytest.raises(FlintlogError, match="E924"):
        open_session(SparkOptions(master="local[1]"), "other")
    assert open_session(SparkOptions(master="local[2]"), "same")[0] is spark


def test_a_session_in_hand_stays_as_it_is(spark: SparkSession):
    hand = spark.newSession()
    before = dict(hand.conf.getAll)
    found, made_here = open_session(SparkOptions(session=hand), "hand")
    assert (found, made_here) == (hand, False)
    assert dict(hand.conf.getAll) == before


def test_jobs_of_a_block_are_one_group_and_end_with_it(spark: SparkSession):
    context = spark.sparkContext
    with interruptible(spark, "group-1", "what it does"):
        assert context.getLocalProperty("spark.jobGroup.id") == "group-1"
        assert context.getLocalProperty("spark.job.interruptOnCancel") == "true"
        spark.range(10).count()
        assert len(context.statusTracker().getJobIdsForGroup("group-1")) >= 1
    assert context.getLocalProperty("spark.jobGroup.id") is None


def test_a_block_that_fails_cancels_its_jobs(spark: SparkSession):
    """Another thread's job of the group is stopped in the middle of a task."""
    ended: list[str] = []
    running = threading.Event()

    def sleep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            time.sleep(60)
            yield batch

    def job() -> None:
        spark.sparkContext.setJobGroup("group-2", "sleeps", interruptOnCancel=True)
        running.set()
        try:
            spark.range(1).mapInArrow(sleep, "id long").collect()
        except Exception as error:  # noqa: BLE001 - whatever Spark makes of it
            ended.append(str(error))

    thread = threading.Thread(target=job)
    started = time.monotonic()
    thread.start()
    running.wait()
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.05)
    with pytest.raises(KeyboardInterrupt), interruptible(spark, "group-2", "sleeps"):
        raise KeyboardInterrupt
    thread.join(30)
    assert len(ended) == 1
    assert time.monotonic() - started < 30

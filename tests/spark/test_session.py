"""A session of the caller's stays as it is; one that is made has what Flintlog needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from flintlog.engines.spark.session import ARROW_ROWS, open_session
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

"""The Spark session of a contestant: the same settings for all of them."""

import os
import sys
from collections.abc import Mapping

from pyspark import __version__ as spark_version
from pyspark.sql import SparkSession

from flintlog.engines.spark.sessions.java import java_home

# Two slots: Spark's own 200 partitions would be a straw man. Everything else that matters to speed is Spark's default.
SETTINGS: dict[str, str] = {
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
}


def make_session(master: str, memory: str, more: Mapping[str, str] | None = None) -> SparkSession:
    """A session that has run its first job. `memory` is the driver's, which in local mode does all the work."""
    os.environ["JAVA_HOME"] = str(java_home(spark_version))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("benchmarks.spark").config("spark.driver.memory", memory)
    for key, value in {**SETTINGS, **(more or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.range(1000).selectExpr("id % 7 AS key").groupBy("key").count().collect()
    return session


def forget(spark: SparkSession) -> None:
    """Between two runs: nothing of the last one is left in the cache, and its blocks are given back."""
    spark.catalog.clearCache()
    java = spark._jvm
    if java is not None:
        java.System.gc()  # Spark drops the blocks of frames that nobody can reach any more when they are collected

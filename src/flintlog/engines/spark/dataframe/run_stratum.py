"""Evaluates one stratum over DataFrames of words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flintlog.engines.spark.dataframe.connect import ConnectWorkspace
from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.rounds import Rounds
from flintlog.engines.spark.dataframe.workspace import Workspace
from flintlog.ir.program import Program, Stratum

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_stratum(
    spark: SparkSession, program: Program, stratum: Stratum, frames: Mapping[str, DataFrame], context: Context
) -> dict[str, DataFrame]:
    """The rows of the stratum's relations, each once, as frames of words that executors keep until `release`. `frames`
    has a frame for every relation that the stratum reads, and the facts of its own relations. Raises FlintlogError for
    mistakes of the program."""
    workspace = ConnectWorkspace(spark) if context.spark_connect else Workspace(spark)
    try:
        return Rounds(workspace, program, stratum, frames, context).run()
    finally:
        workspace.close()

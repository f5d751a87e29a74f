"""Kept rows as leaves of plans, through Spark's Java side.

Spark's own leaf for rows that were cut off from their plan carries guesses at their size along: products of products,
which take longer to compute with every round. What is made here says nothing but where the rows are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LEAF = "org.apache.spark.sql.execution.LogicalRDD"


def leaf_of(session: SparkSession, checkpointed: DataFrame) -> DataFrame:
    """The frame that `localCheckpoint` returned, without what Spark guesses about it. It still knows how its rows are
    placed."""
    from pyspark.sql import DataFrame

    jvm: Any = session.sparkContext._jvm
    plan = checkpointed._jdf.queryExecution().analyzed()
    if plan.getClass().getName() != _LEAF:
        return checkpointed
    leaf = _constructed(jvm, session._jsparkSession, plan)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, leaf), session)


def _constructed(jvm: Any, session: Any, plan: Any) -> Any:
    """A new leaf. Versions of Spark differ in how many arguments it takes, but not in what their types mean."""
    single = plan.rdd().getNumPartitions() == 1
    partitioning = _single(jvm) if single else plan.outputPartitioning()
    sequences = [plan.output(), plan.outputOrdering()]
    arguments: list[Any] = []
    for parameter in plan.getClass().getConstructors()[0].getParameterTypes():
        match parameter.getName().rsplit(".", 1)[-1]:
            case "Seq":
                arguments.append(sequences.pop(0))
            case "RDD":
                arguments.append(plan.rdd())
            case "Partitioning":
                arguments.append(partitioning)
            case "SparkSession":
                arguments.append(session)
            case "boolean":
                arguments.append(False)
            case _:
                arguments.append(jvm.scala.Option.empty())
    return jvm.org.apache.spark.sql.execution.LogicalRDD(*arguments)


def _single(jvm: Any) -> Any:
    """All rows in one place."""
    return getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.physical, "SinglePartition$"), "MODULE$")


def release_plan(plan: Any) -> None:
    """Gives back the rows that executors keep for the leaves of a plan."""
    leaves = plan.collectLeaves()
    for i in range(leaves.size()):
        leaf = leaves.apply(i)
        if leaf.getClass().getName() == _LEAF:
            leaf.rdd().unpersist(False)

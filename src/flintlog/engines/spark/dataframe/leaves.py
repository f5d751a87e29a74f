"""Kept rows as leaves of plans, through Spark's Java side.

Spark's own leaf for rows that were cut off from their plan carries guesses at their size along: products of products,
which take longer to compute with every round. What is made here says nothing but where the rows are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LEAF = "org.apache.spark.sql.execution.LogicalRDD"


class Leaves:
    """Makes leaves for the plans of one session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        jvm: Any = session.sparkContext._jvm
        self._jvm = jvm
        self._parameters: list[str] = []
        physical = jvm.org.apache.spark.sql.catalyst.plans.physical
        self._single = getattr(getattr(physical, "SinglePartition$"), "MODULE$")
        self._none = jvm.scala.Option.empty()

    def leaf_of(self, checkpointed: DataFrame) -> DataFrame:
        """The frame that `localCheckpoint` returned, without what Spark guesses about it. It still knows how its rows
        are placed."""
        plan = checkpointed._jdf.queryExecution().analyzed()
        return self.frame(self._constructed(plan))

    def frame(self, plan: Any) -> DataFrame:
        """A plan as a frame of this session."""
        from pyspark.sql import DataFrame

        dataset = self._jvm.org.apache.spark.sql.classic.Dataset
        return DataFrame(dataset.ofRows(self.session._jsparkSession, plan), self.session)

    def _constructed(self, plan: Any) -> Any:
        """Versions of Spark differ in how many arguments a leaf takes, but not in what their types mean."""
        if not self._parameters:
            types = plan.getClass().getConstructors()[0].getParameterTypes()
            self._parameters = [parameter.getName().rsplit(".", 1)[-1] for parameter in types]
        rows = plan.rdd()
        sequences = [plan.output(), plan.outputOrdering()]
        arguments: list[Any] = []
        for parameter in self._parameters:
            match parameter:
                case "Seq":
                    arguments.append(sequences.pop(0))
                case "RDD":
                    arguments.append(rows)
                case "Partitioning":
                    arguments.append(self._single if rows.getNumPartitions() == 1 else plan.outputPartitioning())
                case "SparkSession":
                    arguments.append(self.session._jsparkSession)
                case "boolean":
                    arguments.append(False)
                case _:
                    arguments.append(self._none)
        return self._jvm.org.apache.spark.sql.execution.LogicalRDD(*arguments)


def release_plan(plan: Any) -> None:
    """Gives back the rows that executors keep for the leaves of a plan."""
    leaves = plan.collectLeaves()
    for i in range(leaves.size()):
        leaf = leaves.apply(i)
        if leaf.getClass().getName() == _LEAF:
            leaf.rdd().unpersist(False)

"""Leaves of logical plans that read rows which executors keep. They are made through Spark's Java side.

The leaf that Spark's own `localCheckpoint` makes also carries an estimate of the rows' size: the product of the
estimates of the plan behind it. That number has more digits after every round, and takes longer to compute. The leaves
made here carry no estimate. They are also named and counted here, since Spark's commands for that would take as long as
the plans of a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flintlog.engines.spark.dataframe.settings import elements, of_rounds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of_plan(session: SparkSession, plan: Any) -> DataFrame:
    """The DataFrame of a logical plan, a Java object, in a session."""
    from pyspark.sql import DataFrame

    jvm: Any = session.sparkContext._jvm
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


class LogicalLeaf:
    """A logical plan, a Java object, that reads the rows of an RDD which executors keep."""

    def __init__(self, session: SparkSession, plan: Any, rdd: Any) -> None:
        self.session, self.plan, self.rdd = session, plan, rdd

    @cached_property
    def frame(self) -> DataFrame:
        return frame_of_plan(self.session, self.plan)

    def release(self) -> None:
        """Has executors drop the rows."""
        self.rdd.unpersist(False)


class JavaSession:
    """The Java objects of a session, by which leaves are made, named as views, and counted."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        jvm: Any = session.sparkContext._jvm
        # Each step along a dotted name asks Java.
        self._leaf = jvm.org.apache.spark.sql.execution.LogicalRDD
        self._view = jvm.org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation
        self._some = jvm.scala.Option
        self._none = jvm.scala.Option.empty()
        physical = jvm.org.apache.spark.sql.catalyst.plans.physical
        self._hashed, self._to_seq = physical.HashPartitioning, jvm.PythonUtils.toSeq
        self._single = getattr(getattr(physical, "SinglePartition$"), "MODULE$")
        self._java_session = session._jsparkSession
        self._catalog = self._java_session.sessionState().catalog()
        self._last = session.sparkContext._jsc.parallelize(jvm.java.util.ArrayList(), 1).rdd()
        self._parameters: list[str] = []
        self._views: dict[str, Any] = {}  # the catalog's metadata of a view, by the types of its columns
        self.settings_of_rounds = of_rounds(session)

    def leaf_of(self, checkpointed: DataFrame) -> LogicalLeaf:
        """A leaf for a frame that `localCheckpoint` has returned, without Spark's estimates. It knows the partitioning
        of the rows."""
        plan = checkpointed._jdf.queryExecution().analyzed()
        rdd = plan.rdd()
        return LogicalLeaf(self.session, self._constructed(plan, rdd), rdd)

    def _constructed(self, plan: Any, rdd: Any) -> Any:
        """A LogicalRDD. Its constructor has other parameters in other versions of Spark, but their types tell them
        apart."""
        if not self._parameters:
            types = plan.getClass().getConstructors()[0].getParameterTypes()
            self._parameters = [parameter.getName().rsplit(".", 1)[-1] for parameter in types]
        sequences = [plan.output(), plan.outputOrdering()]
        arguments: list[Any] = []
        for parameter in self._parameters:
            match parameter:
                case "Seq":
                    arguments.append(sequences.pop(0))
                case "RDD":
                    arguments.append(rdd)
                case "Partitioning":
                    arguments.append(self._single if rdd.getNumPartitions() == 1 else self._partitioning(plan))
                case "SparkSession":
                    arguments.append(self._java_session)
                case "boolean":
                    arguments.append(False)
                case _:
                    arguments.append(self._none)
        return self._leaf(*arguments)

    def _partitioning(self, plan: Any) -> Any:
        """The partitioning of a plan's rows, in terms of its output columns. Spark's own expressions may differ from
        these in whether nulls are possible, and a plan that reads the leaf twice would then not match them."""
        partitioning = plan.outputPartitioning()
        if partitioning.getClass().getSimpleName() != "HashPartitioning":
            return partitioning
        columns = {column.exprId().id(): column for column in elements(plan.output())}
        keys = list(elements(partitioning.expressions()))
        if any(key.getClass().getSimpleName() != "AttributeReference" for key in keys):
            return partitioning
        found = [columns.get(key.exprId().id()) for key in keys]
        # The plan may have dropped a column by which its rows are partitioned.
        return partitioning if None in found else self._hashed(self._to_seq(found), partitioning.numPartitions())

    # --- Names ------------------------------------------------------------------------------------

    def name(self, leaf: LogicalLeaf, view: str) -> None:
        """Registers a leaf as a temporary view. For the first leaf with its column types, Spark's command does that,
        and makes the view's metadata; every later leaf with the same types reuses them."""
        kind = str(leaf.plan.schema().catalogString())
        known = self._views.get(kind)
        if known is None:
            leaf.frame.createOrReplaceTempView(view)
            self._views[kind] = self._catalog.getRawTempView(view).get().tableMeta()
        else:
            self._catalog.createTempView(view, self._view(known, self._some.apply(leaf.plan)), True)

    def forget(self, view: str) -> None:
        """Drops a view."""
        self._catalog.dropTempView(view)

    # --- Jobs -------------------------------------------------------------------------------------

    def counted(self, leaves: Sequence[LogicalLeaf]) -> list[int]:
        """The number of rows of each leaf. One job computes all leaves."""
        if len(leaves) == 1:
            return [int(leaves[0].rdd.count())]
        together, ends = leaves[0].rdd, [leaves[0].rdd.getNumPartitions()]
        for leaf in leaves[1:]:
            together = together.union(leaf.rdd)
            ends.append(ends[-1] + leaf.rdd.getNumPartitions())
        # zipWithIndex counts the rows of all partitions but the last, which is empty here.
        partitions = together.union(self._last).zipWithIndex().partitions()
        before = [0, *(int(partitions[end].startIndex()) for end in ends)]
        return [after - start for start, after in pairwise(before)]

"""Kept rows as leaves of plans, through Spark's Java side.

Spark's own leaf for rows that were cut off from their plan carries guesses at their size along: products of products,
which take longer to compute with every round. What is made here says nothing but where the rows are. A round makes and
names a few leaves, and Spark's commands for that would take as long as its plans, so that is done here as well.
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
    """A plan of Java's as a frame of a session."""
    from pyspark.sql import DataFrame

    jvm: Any = session.sparkContext._jvm
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


class Leaf:
    """Rows that executors keep, as a plan of Java's."""

    def __init__(self, leaves: Leaves, plan: Any, rows: Any) -> None:
        self.leaves, self.plan, self.rdd = leaves, plan, rows

    @cached_property
    def frame(self) -> DataFrame:
        return frame_of_plan(self.leaves.session, self.plan)

    def release(self) -> None:
        """Executors need not keep the rows any more."""
        self.rdd.unpersist(False)


class Leaves:
    """Makes leaves for the plans of one session."""

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
        self._views: dict[str, Any] = {}  # what the catalog says of a view, by the types of its columns
        self.settings_of_rounds = of_rounds(session)

    def leaf_of(self, checkpointed: DataFrame) -> Leaf:
        """The frame that `localCheckpoint` returned, without what Spark guesses about it. It still knows how its rows
        are placed."""
        plan = checkpointed._jdf.queryExecution().analyzed()
        rows = plan.rdd()
        return Leaf(self, self._constructed(plan, rows), rows)

    def _constructed(self, plan: Any, rows: Any) -> Any:
        """Versions of Spark differ in how many arguments a leaf takes, but not in what their types mean."""
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
                    arguments.append(rows)
                case "Partitioning":
                    arguments.append(self._single if rows.getNumPartitions() == 1 else self._placement(plan))
                case "SparkSession":
                    arguments.append(self._java_session)
                case "boolean":
                    arguments.append(False)
                case _:
                    arguments.append(self._none)
        return self._leaf(*arguments)

    def _placement(self, plan: Any) -> Any:
        """How rows are placed, in terms of the plan's very columns. Those that Spark has there may differ from them in
        what is known of nulls; a plan that reads the leaf twice would then not find them."""
        placement = plan.outputPartitioning()
        if placement.getClass().getSimpleName() != "HashPartitioning":
            return placement
        columns = {column.exprId().id(): column for column in elements(plan.output())}
        placed = list(elements(placement.expressions()))
        if any(part.getClass().getSimpleName() != "AttributeReference" for part in placed):
            return placement
        found = [columns.get(part.exprId().id()) for part in placed]
        # Rows may be placed by columns that are not there any more.
        return placement if None in found else self._hashed(self._to_seq(found), placement.numPartitions())

    # --- Names ------------------------------------------------------------------------------------

    def name(self, leaf: Leaf, view: str) -> None:
        """Gives a leaf a name, for SQL. The first of its kind gets it from Spark's command, which knows what a catalog
        wants to know of a view; all others are like it."""
        kind = str(leaf.plan.schema().catalogString())
        known = self._views.get(kind)
        if known is None:
            leaf.frame.createOrReplaceTempView(view)
            self._views[kind] = self._catalog.getRawTempView(view).get().tableMeta()
        else:
            self._catalog.createTempView(view, self._view(known, self._some.apply(leaf.plan)), True)

    def forget(self, view: str) -> None:
        """Takes a name away."""
        self._catalog.dropTempView(view)

    # --- Jobs -------------------------------------------------------------------------------------

    def counted(self, leaves: Sequence[Leaf]) -> list[int]:
        """The rows of each leaf; one job computes them all."""
        if len(leaves) == 1:
            return [int(leaves[0].rdd.count())]
        together, ends = leaves[0].rdd, [leaves[0].rdd.getNumPartitions()]
        for leaf in leaves[1:]:
            together = together.union(leaf.rdd)
            ends.append(ends[-1] + leaf.rdd.getNumPartitions())
        # To number rows, Spark counts those of all partitions but the last.
        partitions = together.union(self._last).zipWithIndex().partitions()
        before = [0, *(int(partitions[end].startIndex()) for end in ends)]
        return [after - start for start, after in pairwise(before)]

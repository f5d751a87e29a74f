"""The settings of the sessions in which rounds run. Every round makes new plans, so planning has to be quick."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
ADAPTIVE = "spark.sql.adaptive.enabled"
ALWAYS = {
    # Rows partitioned by some columns of a join's key are partitioned for the whole key, too.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # Some versions of Spark take a union for partitioned by its columns when it is not.
    "spark.sql.unionOutputPartitioning": "false",
    "spark.sql.ui.explainMode": "simple",
    # A name in backquotes is a name, no pattern.
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
# For plans of rounds. Hints say how to join: they are made from counts of rows.
_IN_ROUNDS = {
    # One job a round: adaptive plans make a job of every shuffle, and plan anew after each.
    ADAPTIVE: "false",
    # Spark would choose joins by estimates that are products of estimates.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.defaultSizeInBytes": "1",
    "spark.sql.maxSinglePartitionBytes": str((1 << 63) - 1),
    # Columns of words are never null, and inferring more constraints takes longer than it saves.
    "spark.sql.constraintPropagation.enabled": "false",
}
_EXCLUDED = "spark.sql.optimizer.excludedRules"
# The optimizer's rules that our texts need. Joins are in their final order already, and trying the other rules takes
# longer than the plan runs. Some rules do harm: they would move tests for known rows below the hint that gathers rows.
_RULES = {
    "BooleanSimplification",
    "CollapseProject",
    "CollapseRepartition",
    "ColumnPruning",
    "CombineUnions",
    "ConstantFolding",
    "ConvertToLocalRelation",
    "NullPropagation",
    "PropagateEmptyRelation",
    "PushDownPredicates",
    "PushPredicateThroughJoin",
    "PushPredicateThroughNonJoin",
    "PushProjectionThroughUnion",
    "RemoveLiteralFromGroupExpressions",
    "RemoveNoopOperators",
    "RemoveRedundantAliases",
    "RemoveRepetitionFromGroupExpressions",
    "UpdateAttributeNullability",
}


def of_rounds(session: SparkSession) -> dict[str, str]:
    """The settings for plans of rounds."""
    return {**_IN_ROUNDS, _EXCLUDED: ",".join(sorted(_unneeded(session)))}


def _unneeded(session: SparkSession) -> set[str]:
    optimizer: Any = session._jsparkSession.sessionState().optimizer()
    rules = {rule.ruleName() for batch in elements(optimizer.defaultBatches()) for rule in elements(batch.rules())}
    needed = set(elements(optimizer.nonExcludableRules()))
    # A rule that an extension has added stays: it may hide rows from some users.
    own = {rule for rule in rules - needed if rule.startswith("org.apache.spark.sql.")}
    return {rule for rule in own if rule.rsplit(".", 1)[-1] not in _RULES}


def follow(session: SparkSession, users: SparkSession) -> None:
    """Gives our session the present settings of the user's session: plans of the user's frames run in ours, too."""
    ours, theirs = _settings(session), _settings(users)
    own = {*ALWAYS, *_IN_ROUNDS, _EXCLUDED, PARTITIONS}
    for key in (ours.keys() | theirs.keys()) - own:
        if ours.get(key) != theirs.get(key) and session.conf.isModifiable(key):
            if key in theirs:
                session.conf.set(key, theirs[key])
            else:
                session.conf.unset(key)


def _settings(session: SparkSession) -> dict[str, str]:
    """All settings of a session, with a single call into Java."""
    found: Any = session._jsparkSession.sessionState().conf().getAllConfs()
    pairs = str(found.mkString("\x1e"))
    return dict(pair.split(" -> ", 1) for pair in pairs.split("\x1e") if " -> " in pair)


def elements(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala sequence."""
    return (sequence.apply(i) for i in range(sequence.size()))

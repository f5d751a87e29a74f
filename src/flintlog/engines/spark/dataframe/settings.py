"""The settings of sessions for rounds: plans that are made anew for every round had better be made quickly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = "spark.sql.shuffle.partitions"
ADAPTIVE = "spark.sql.adaptive.enabled"
ALWAYS = {
    # Rows that are in their places by some of the columns are so by all of them.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # A union is taken for placed by its columns in some versions when it is not.
    "spark.sql.unionOutputPartitioning": "false",
    "spark.sql.ui.explainMode": "simple",
    # Names in backquotes are names.
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
# Of plans that run once for every round: how to join is said in hints, from numbers of rows.
_IN_ROUNDS = {
    # One job a round: adaptive plans make a job of every shuffle, and plan anew after each.
    ADAPTIVE: "false",
    # Spark would go by products of guesses.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.defaultSizeInBytes": "1",
    "spark.sql.maxSinglePartitionBytes": str((1 << 63) - 1),
    # Columns of words are never null, and what else could be inferred is not worth the time.
    "spark.sql.constraintPropagation.enabled": "false",
}
_EXCLUDED = "spark.sql.optimizer.excludedRules"
# What the optimizer has to do for texts of ours; joins are in the order that they shall have. All else that it tries
# takes longer than the plan runs. Some of it does harm: tests for known rows would go below what gathers rows.
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
    """The settings for plans that run in every round."""
    return {**_IN_ROUNDS, _EXCLUDED: ",".join(sorted(_unneeded(session)))}


def _unneeded(session: SparkSession) -> set[str]:
    optimizer: Any = session._jsparkSession.sessionState().optimizer()
    rules = {rule.ruleName() for batch in elements(optimizer.defaultBatches()) for rule in elements(batch.rules())}
    needed = set(elements(optimizer.nonExcludableRules()))
    # Rules that others have added may be there to keep rows from somebody.
    own = {rule for rule in rules - needed if rule.startswith("org.apache.spark.sql.")}
    return {rule for rule in own if rule.rsplit(".", 1)[-1] not in _RULES}


def follow(session: SparkSession, users: SparkSession) -> None:
    """Gives a session of our own the settings that the user's has now: plans of the user's run in it, too."""
    ours, theirs = _settings(session), _settings(users)
    own = {*ALWAYS, *_IN_ROUNDS, _EXCLUDED, PARTITIONS}
    for key in (ours.keys() | theirs.keys()) - own:
        if ours.get(key) != theirs.get(key) and session.conf.isModifiable(key):
            if key in theirs:
                session.conf.set(key, theirs[key])
            else:
                session.conf.unset(key)


def _settings(session: SparkSession) -> dict[str, str]:
    """What was said to a session, in one conversation with Java."""
    found: Any = session._jsparkSession.sessionState().conf().getAllConfs()
    pairs = str(found.mkString("\x1e"))
    return dict(pair.split(" -> ", 1) for pair in pairs.split("\x1e") if " -> " in pair)


def elements(sequence: Any) -> Iterator[Any]:
    """The elements of one of Scala's."""
    return (sequence.apply(i) for i in range(sequence.size()))

"""The programs in Spark's own recursive SQL (since Spark 4.1), as far as it goes.

What it cannot do, and what stands here instead:

- It has UNION ALL only, and a round sees the rows of the last round only, so nothing is ever recognised as known: on a
  graph with cycles it does not end. The queries count levels and stop at `levels`, the number of rounds that the
  program is known to need. A user who does not know that number would have to say the number of nodes. DISTINCT
  removes the duplicates within a round; those of earlier rounds come again and again.
- An aggregate over the recursive reference is refused, so cc and sssp carry every label and every distance that some
  walk has, and take the smallest at the end.
- Rules with two recursive atoms (tc_nonlinear, andersen) are accepted and join the last round with itself: rows are
  missing, and no error says so. They are here as one would write them; the wrong answer is noticed by its size.
- Relations that are defined through one another (cspa) are refused.

Its limits, 100 rounds and a million rows, are lifted.
"""

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.rivals.frames import Answer, read

# The columns of the facts, by program and file.
FACTS: dict[str, dict[str, tuple[str, ...]]] = {
    "tc": {"Arc": ("x", "y")},
    "tc_nonlinear": {"Arc": ("x", "y")},
    "sg": {"Arc": ("x", "y")},
    "reach": {"Arc": ("x", "y"), "Source": ("x",)},
    "csda": {"Edge": ("x", "y"), "NullEdge": ("x", "y")},
    "cc": {"Arc": ("x", "y")},
    "sssp": {"WArc": ("x", "y", "weight"), "Id": ("x",)},
    "andersen": dict.fromkeys(("addressOf", "assign", "load", "store"), ("y", "x")),
    "cspa": {"Assign": ("x", "y"), "Dereference": ("x", "y")},
}

# Each query gives one row; a column is named after the relation whose size it has.
QUERIES: dict[str, str] = {
    "tc": """
        WITH RECURSIVE closure(x, y, level) AS (
            SELECT DISTINCT x, y, 0 FROM Arc
            UNION ALL
            SELECT DISTINCT closure.x, Arc.y, level + 1 FROM closure JOIN Arc ON closure.y = Arc.x
            WHERE level < {levels})
        SELECT count(DISTINCT x, y) AS Tc FROM closure""",
    "tc_nonlinear": """
        WITH RECURSIVE closure(x, y, level) AS (
            SELECT DISTINCT x, y, 0 FROM Arc
            UNION ALL
            SELECT DISTINCT a.x, b.y, a.level + 1 FROM closure a JOIN closure b ON a.y = b.x
            WHERE a.level < {levels})
        SELECT count(DISTINCT x, y) AS Tc FROM closure""",
    "sg": """
        WITH RECURSIVE same(x, y, level) AS (
            SELECT DISTINCT a.y, b.y, 0 FROM Arc a JOIN Arc b ON a.x = b.x WHERE a.y <> b.y
            UNION ALL
            SELECT DISTINCT a.y, b.y, level + 1 FROM same JOIN Arc a ON same.x = a.x JOIN Arc b ON same.y = b.x
            WHERE level < {levels})
        SELECT count(DISTINCT x, y) AS Sg FROM same""",
    "reach": """
        WITH RECURSIVE reached(x, level) AS (
            SELECT DISTINCT x, 0 FROM Source
            UNION ALL
            SELECT DISTINCT Arc.y, level + 1 FROM reached JOIN Arc ON reached.x = Arc.x WHERE level < {levels})
        SELECT count(DISTINCT x) AS Reach FROM reached""",
    "csda": """
        WITH RECURSIVE flows(x, y, level) AS (
            SELECT DISTINCT x, y, 0 FROM NullEdge
            UNION ALL
            SELECT DISTINCT flows.x, Edge.y, level + 1 FROM flows JOIN Edge ON flows.y = Edge.x
            WHERE level < {levels})
        SELECT count(DISTINCT x, y) AS NullNode FROM flows""",
    "cc": """
        WITH RECURSIVE labels(x, c, level) AS (
            SELECT DISTINCT x, x, 0 FROM Arc
            UNION ALL
            SELECT DISTINCT Arc.y, c, level + 1 FROM labels JOIN Arc ON labels.x = Arc.x WHERE level < {levels}),
        best AS (SELECT x, min(c) AS c FROM labels GROUP BY x)
        SELECT count(*) AS CC, count(DISTINCT c) AS Label, sum(c % 1009) AS Check FROM best""",
    "sssp": """
        WITH RECURSIVE distances(x, d, level) AS (
            SELECT DISTINCT x, 0L, 0 FROM Id
            UNION ALL
            SELECT DISTINCT WArc.y, d + weight, level + 1 FROM distances JOIN WArc ON distances.x = WArc.x
            WHERE level < {levels}),
        best AS (SELECT x, min(d) AS d FROM distances GROUP BY x)
        SELECT count(*) AS Sssp, sum(d % 1009) AS Check FROM best""",
    "andersen": """
        WITH RECURSIVE points(y, x, level) AS (
            SELECT DISTINCT y, x, 0 FROM addressOf
            UNION ALL
            SELECT DISTINCT * FROM (
                SELECT assign.y, p.x, level + 1 FROM assign JOIN points p ON assign.x = p.y
                UNION ALL
                SELECT load.y, q.x, p.level + 1 FROM load JOIN points p ON load.x = p.y JOIN points q ON p.x = q.y
                UNION ALL
                SELECT p.x, q.x, p.level + 1 FROM store JOIN points p ON store.y = p.y JOIN points q ON store.x = q.y)
            AS found(y, x, level) WHERE level <= {levels})
        SELECT count(DISTINCT y, x) AS PointsTo FROM points""",
    "cspa": """
        WITH RECURSIVE flow(x, y, level) AS (
            SELECT DISTINCT x, y, 0 FROM Assign
            UNION ALL
            SELECT DISTINCT Assign.x, memory.y, level + 1 FROM Assign JOIN memory ON Assign.y = memory.x
            WHERE level < {levels}),
        memory(x, y, level) AS (
            SELECT DISTINCT x, x, 0 FROM Assign
            UNION ALL
            SELECT DISTINCT a.y, b.y, level + 1 FROM Dereference a JOIN value ON a.x = value.x
            JOIN Dereference b ON value.y = b.x
            WHERE level < {levels}),
        value(x, y, level) AS (
            SELECT DISTINCT a.y, b.y, a.level + 1 FROM flow a JOIN flow b ON a.x = b.x WHERE a.level < {levels})
        SELECT (SELECT count(DISTINCT x, y) FROM flow) AS ValueFlow,
               (SELECT count(DISTINCT x, y) FROM memory) AS MemoryAlias,
               (SELECT count(DISTINCT x, y) FROM value) AS ValueAlias""",
}


def answer(spark: SparkSession, program: str, facts: Path, levels: int) -> Answer:
    """What the query gives when it stops after `levels` rounds. Raises what Spark has against it."""
    spark.conf.set("spark.sql.cteRecursionLevelLimit", "-1")
    spark.conf.set("spark.sql.cteRecursionRowLimit", "-1")
    for name, columns in FACTS[program].items():
        read(spark, facts / f"{name}.facts", *columns).createOrReplaceTempView(name)
    row = spark.sql(QUERIES[program].format(levels=levels)).first()
    return Answer(row.asDict() if row is not None else {}, levels)

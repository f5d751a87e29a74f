"""The programs of `benchmarks/programs` as a Spark user would write them without Flintlog.

A module a program with `answer(spark, facts)`, a semi-naive loop of DataFrame operations; `with_recursive` has Spark's
own recursive SQL. They are written to be fair: inputs are read with a schema and cached, a round joins only the rows
of the last one, and the plan is cut in every round.
"""

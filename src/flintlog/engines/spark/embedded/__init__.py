"""The embedded engine inside Spark's tasks: the strategies `single`, `decomposed` and `resident`."""

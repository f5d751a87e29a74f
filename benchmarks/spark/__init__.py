"""Flintlog on Spark, measured against what Spark users have without it: `python -m benchmarks.spark`."""

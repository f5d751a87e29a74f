"""Databases that are kept current, measured against computing them again: `python -m benchmarks.incremental`."""

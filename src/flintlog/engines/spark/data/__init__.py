"""Rows between Spark and the engine: sources, values and their numbers, sinks."""

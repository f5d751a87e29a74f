"""Moves rows between the outside world and DataFrames of words: sources, the dictionary of values, and sinks."""

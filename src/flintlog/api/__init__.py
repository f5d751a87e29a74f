"""Flintlog from Python: programs, results, functors."""

"""Sideways information passing. `sideways` is the pass."""

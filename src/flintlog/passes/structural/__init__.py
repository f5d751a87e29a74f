"""Joins planned by the structure of a rule, without statistics. `planner` is the pass."""

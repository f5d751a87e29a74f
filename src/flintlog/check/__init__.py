"""Syntax tree -> checked program: components, names, types, grounding, strata."""

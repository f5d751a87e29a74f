"""Conjunctive queries made of rules' trees, and properties of rules and strata by which engines choose how to run
them."""

"""Proofs: why a row is in a database, and why it is not."""

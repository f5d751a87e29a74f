"""The relational IR, data only: scalars, relational nodes, programs; their text form, traversal and verification."""

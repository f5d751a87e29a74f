"""Rules as written -> clauses with one head and a conjunctive body."""

"""A rule's tree as a conjunctive query, and the questions that engines ask of such queries and their strata."""

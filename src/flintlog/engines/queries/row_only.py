"""Tells which strata are evaluated row by row, because kernels cannot maintain their relations."""

from __future__ import annotations

from flintlog.engines.queries.best import best_of
from flintlog.ir.program import Program, Stratum
from flintlog.ir.scalar import Counter
from flintlog.ir.visit import node_terms, walk, walk_scalar


def needs_rows(program: Program, stratum: Stratum) -> bool:
    """Whether a stratum has choices, merges, subsumption or counters, which kernels lack; merges and subsumption that
    keep best values do not count."""
    if best_of(program, stratum) is not None:
        return False
    relations = [program.relations[name] for name in stratum.relations]
    if stratum.subsumptions or any(r.choice or r.merge for r in relations):
        return True
    if any(r.delta_of in stratum.relations for r in program.relations.values()):
        return True
    return any(
        isinstance(scalar, Counter)
        for rule in stratum.rules
        for node in walk(rule.body)
        for term in node_terms(node)
        for scalar in walk_scalar(term)
    )

"""Join orders given by hand: `.plan version: (order), …`."""

from __future__ import annotations

from flintlog.check.checked import Clause, SubsumptiveClause
from flintlog.check.clauses.content import head_name
from flintlog.check.dependencies import Dependencies
from flintlog.check.names import body_atoms
from flintlog.diagnostics import Report


def check_plan(
    clause: Clause | SubsumptiveClause, dependencies: Dependencies, inline: frozenset[str], report: Report
) -> None:
    """Reports an order that is no permutation of a recursive rule's atoms, and a version the rule does not have.

    A rule has one version for each of its atoms that is recursive. The atoms of a rule that reads inline relations are
    known only after inlining, so its plan is left alone.
    """
    atoms = body_atoms(clause)
    if clause.plan is None or any(atom.name in inline for atom in atoms):
        return
    if not dependencies.is_recursive(clause):
        if any(sorted(order) != list(range(1, len(atoms) + 1)) for _, order in clause.plan.orders):
            report.warning(
                "W210",
                "this plan does not fit the rule and is ignored",
                clause.plan.span,
                note="an order names each positive atom of the body once, counted from 1",
            )
        return
    head = head_name(clause)
    versions = sum(atom.name == head or dependencies.mutual(head, atom.name) for atom in atoms)
    for version, order in clause.plan.orders:
        if sorted(order) != list(range(1, len(atoms) + 1)):
            report.error(
                "E260",
                f"({', '.join(map(str, order))}) is no order of the rule's {len(atoms)} atoms",
                clause.plan.span,
                note="an order names each positive atom of the body once, counted from 1",
            )
        if version >= versions:
            report.error(
                "E261",
                f"a plan for version {version}, but the rule has {_versions(versions)} only",
                clause.plan.span,
                note="a rule has one version for each of its recursive atoms, counted from 0",
            )


def _versions(number: int) -> str:
    return "version 0" if number == 1 else f"versions 0 to {number - 1}"

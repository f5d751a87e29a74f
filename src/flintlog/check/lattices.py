"""Lattices as declared, and the attributes that need one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flintlog.check.checked import Lattice, Relation
from flintlog.check.names import check_functors
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


def declare_lattices(
    declared: Iterable[ast.LatticeDecl],
    relations: Mapping[str, Relation],
    functors: Mapping[str, ast.FunctorDecl],
    report: Report,
) -> dict[str, Lattice]:
    """The lattices by type name. Reports lattice attributes without a lattice that can join values."""
    decls: dict[str, ast.LatticeDecl] = {}
    for decl in declared:
        if decl.name in decls:
            report.error(
                "E223",
                f"type `{decl.name}` has two lattices",
                decl.span,
                labels=[Label(decls[decl.name].span, "the first one")],
                note="remove one of the two",
            )
        else:
            decls[decl.name] = decl
    lattices = {name: _lattice(decl, functors, report) for name, decl in decls.items()}
    for relation in relations.values():
        _check_attributes(relation, lattices, report)
    return lattices


def _lattice(decl: ast.LatticeDecl, functors: Mapping[str, ast.FunctorDecl], report: Report) -> Lattice:
    operators = dict(decl.operators)
    for argument in operators.values():
        check_functors(argument, functors, report)
    return Lattice(decl.name, operators.get("Bottom"), operators.get("Lub"), operators.get("Glb"))


def _check_attributes(relation: Relation, lattices: Mapping[str, Lattice], report: Report) -> None:
    for attribute in relation.attributes if relation.delta_of is None else ():
        if not attribute.lattice:
            continue
        lattice = lattices.get(attribute.type)
        if lattice is None:
            report.error(
                "E221",
                f"type `{attribute.type}` of attribute `{attribute.name}` has no lattice",
                attribute.span,
                note=f"declare one with `.lattice {attribute.type}<> {{ Bottom -> …, Lub -> …, Glb -> … }}`",
            )
        elif lattice.lub is None:
            report.error(
                "E222",
                f"the lattice of `{attribute.type}` does not say how to join two values",
                attribute.span,
                note="add `Lub -> @functor(_, _)` to the `.lattice`",
            )

"""Lattices as declared, and the attributes that need one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from flintlog.check.checked import Lattice, Relation
from flintlog.check.missing import Missing
from flintlog.check.names import check_functors
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


def declare_lattices(
    declared: Iterable[ast.LatticeDecl],
    relations: Mapping[str, Relation],
    functors: Mapping[str, ast.FunctorDecl],
    is_type: Callable[[str], bool],
    missing: Missing,
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
    lattices = {name: _lattice(decl, functors, missing, report) for name, decl in decls.items()}
    for relation in relations.values():
        _check_attributes(relation, lattices, missing, report)
    used = {attribute.type for relation in relations.values() for attribute in relation.attributes if attribute.lattice}
    for decl in decls.values():
        if not is_type(decl.name):
            note = "declare the type with `.type`, or remove the lattice"
            report.warning("W213", f"a lattice of `{decl.name}`, which is no type", decl.span, note=note)
        elif decl.name in used and lattices[decl.name].lub and not lattices[decl.name].glb and decl.name not in missing:
            report.warning(
                "W214",
                f"the lattice of `{decl.name}` does not say which value is below two others",
                decl.span,
                note="what stands in its columns is compared as a plain value; add `Glb -> @functor(_, _)`",
            )
    return lattices


def _lattice(
    decl: ast.LatticeDecl, functors: Mapping[str, ast.FunctorDecl], missing: Missing, report: Report
) -> Lattice:
    operators = dict(decl.operators)
    for argument in operators.values():
        check_functors(argument, functors, missing, report)
    return Lattice(decl.name, operators.get("Bottom"), operators.get("Lub"), operators.get("Glb"))


def _check_attributes(relation: Relation, lattices: Mapping[str, Lattice], missing: Missing, report: Report) -> None:
    for attribute in relation.attributes if relation.delta_of is None else ():
        if not attribute.lattice or attribute.type in missing:
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

"""Types, relations and functors as declared: what their declarations say, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from flintlog.check.checked import Relation, SubsumptiveClause
from flintlog.check.clauses.content import DIRECTIVE_QUALIFIERS, Content
from flintlog.check.missing import Missing
from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.source import Span
from flintlog.syntax import ast

# From the weakest to the strongest: where a declaration names two that Soufflé lets pass, the stronger one counts.
_REPRESENTATIONS = ("brie", "btree", "btree_delete", "eqrel")
_OPPOSITES = (("inline", "no_inline"), ("magic", "no_magic"))

# What other languages call the primitive types.
_FOREIGN_TYPES = {
    **dict.fromkeys(("int", "integer", "long", "bool", "boolean"), "number"),
    **dict.fromkeys(("uint", "nat", "natural"), "unsigned"),
    **dict.fromkeys(("double", "real"), "float"),
    **dict.fromkeys(("string", "str", "text", "varchar"), "symbol"),
}

_Named: TypeAlias = ast.TypeDecl | ast.RelationDecl | ast.FunctorDecl


def unique_types(content: Content, report: Report) -> list[ast.TypeDecl]:
    """The type declarations, a name's first one only."""
    first: dict[str, ast.TypeDecl] = {}
    for decl in content.types:
        if decl.name in first:
            _twice("E204", "type", decl, first[decl.name], report)
        else:
            first[decl.name] = decl
    return list(first.values())


@dataclass(frozen=True)
class _KnownTypes:
    """`arguments` are the types that were given to components, with their places."""

    declared: Mapping[str, ast.TypeDecl]
    is_type: Callable[[str], bool]
    arguments: Mapping[str, Span] = field(default_factory=dict)
    reported: set[Span] = field(default_factory=set)


def declare_relations(
    content: Content, types: Iterable[ast.TypeDecl], is_type: Callable[[str], bool], missing: Missing, report: Report
) -> dict[str, Relation]:
    """The relations by name, in the order of their declarations. One that observes a relation which there is not is
    missing from now on."""
    decls: dict[str, ast.RelationDecl] = {}
    for decl in content.relations:
        if decl.name in decls:
            _twice("E203", "relation", decl, decls[decl.name], report)
        else:
            decls[decl.name] = decl
    types_by_name = {decl.name: decl for decl in types}
    known = _KnownTypes(types_by_name, is_type, content.arguments)
    subsumed = {c.dominated.name for c in content.clauses if isinstance(c, SubsumptiveClause)}
    relations: dict[str, Relation] = {}
    for decl in decls.values():
        if decl.name in types_by_name:
            report.error(
                "E207",
                f"`{decl.name}` is a type and a relation",
                decl.span,
                labels=[Label(types_by_name[decl.name].span, "the type")],
                note="give one of them another name",
            )
        _check_qualifiers(decl, report)
        if decl.delta_of is not None and decl.delta_of not in decls:
            _unknown_observed(decl, decls, missing, report)
            continue
        relation = _relation(decl, decls, decl.name in subsumed, report)
        if decl.delta_of is None:
            _check_attributes(decl.attributes, known, report)
        _check_representation(relation, decl.name in subsumed, report)
        if relation.representation == "btree_delete" and decl.name not in subsumed and missing.is_program_whole:
            report.warning(
                "W206",
                f"relation `{relation.name}` is `btree_delete`, but has no subsumption",
                relation.span,
                note="remove the qualifier, or add a rule of the form `r(…) <= r(…) :- ….`",
            )
        relations[decl.name] = relation
    return relations


def _twice(code: str, what: str, new: _Named, first: _Named, report: Report) -> None:
    report.error(
        code,
        f"{what} `{new.name}` is declared twice",
        new.span,
        labels=[Label(first.span, "first declared here")],
        note="remove one of the two, or give it another name",
    )


def _check_qualifiers(decl: ast.RelationDecl, report: Report) -> None:
    for one, other in _OPPOSITES:
        if one in decl.qualifiers and other in decl.qualifiers:
            report.warning(
                "W211", f"`{one}` and `{other}` contradict each other", decl.span, note=f"`{other}` wins; keep one"
            )


def _relation(
    decl: ast.RelationDecl, decls: Mapping[str, ast.RelationDecl], subsumed: bool, report: Report
) -> Relation:
    qualifiers = {q for q in decl.qualifiers if q not in _REPRESENTATIONS and q not in DIRECTIVE_QUALIFIERS}
    for one, other in _OPPOSITES:
        if other in qualifiers:
            qualifiers.discard(one)
    representation = next((r for r in reversed(_REPRESENTATIONS) if r in decl.qualifiers), "")
    if subsumed and not representation:
        representation = "btree_delete"
    attributes = decl.attributes
    if decl.delta_of is not None:
        # Those of the observed relation, and the round in which a row appeared.
        attributes = (*decls[decl.delta_of].attributes, ast.Attribute("<iteration>", "unsigned", span=decl.span))
    positions = {attribute.name: i for i, attribute in reversed(list(enumerate(attributes)))}
    for key in decl.choice_domains:
        for name in key:
            if name not in positions:
                report.error(
                    "E214",
                    f"`{name}` in the choice-domain of `{decl.name}` is no attribute of it",
                    decl.span,
                    note=did_you_mean(name, positions) or f"its attributes are {', '.join(positions) or 'none'}",
                )
    choice_domains = tuple(tuple(positions[n] for n in key if n in positions) for key in decl.choice_domains)
    return Relation(
        decl.name,
        attributes,
        frozenset(qualifiers),
        representation,
        choice_domains,
        (None,) * len(attributes),
        decl.delta_of,
        span=decl.span,
    )


def _unknown_observed(
    decl: ast.RelationDecl, decls: Mapping[str, ast.RelationDecl], missing: Missing, report: Report
) -> None:
    assert decl.delta_of is not None
    if decl.delta_of not in missing:
        report.error(
            "E225",
            f"`{decl.name}` observes relation `{decl.delta_of}`, which does not exist",
            decl.span,
            note=did_you_mean(decl.delta_of, decls) or "name a declared relation in `debug_delta(…)`",
        )
    missing.add(decl.name)


def _check_attributes(attributes: tuple[ast.Attribute, ...], known: _KnownTypes, report: Report) -> None:
    first: dict[str, ast.Attribute] = {}
    for attribute in attributes:
        _check_type(attribute, known, report)
        if attribute.name in first:
            report.error(
                "E205",
                f"two attributes are called `{attribute.name}`",
                attribute.span,
                labels=[Label(first[attribute.name].span, "the first one")],
                note="give one of them another name",
            )
        else:
            first[attribute.name] = attribute


def _check_type(attribute: ast.Attribute, known: _KnownTypes, report: Report) -> None:
    name = attribute.type
    # A type whose own declaration is wrong has been reported there.
    if name in known.declared or known.is_type(name):
        return
    meant = _FOREIGN_TYPES.get(name.lower(), name)
    note = did_you_mean(meant, [*known.declared, "number", "symbol", "unsigned", "float"])
    span, labels = attribute.span, []
    given = known.arguments.get(name)
    if given is not None and not attribute.span.text.removesuffix("<>").endswith(name):
        # The component's declaration is right: what it was given is not.
        if given in known.reported:
            return
        known.reported.add(given)
        span, labels = given, [Label(attribute.span, "it stands for the type of an attribute here")]
    message = f"unknown type `{name}`"
    report.error("E209", message, span, note=note or f"declare it with `.type {name} <: …`", labels=labels)


def _check_representation(relation: Relation, subsumed: bool, report: Report) -> None:
    attributes = relation.attributes
    if relation.representation == "eqrel":
        if len(attributes) != 2:
            report.error(
                "E215",
                f"equivalence relation `{relation.name}` has {len(attributes)} attributes",
                relation.span,
                note="an `eqrel` relation is binary",
            )
        elif attributes[0].type != attributes[1].type:
            report.error(
                "E216",
                f"the attributes of equivalence relation `{relation.name}` have different types",
                relation.span,
                note="give both attributes the same type",
            )
    if relation.representation == "btree_delete":
        if not attributes:
            report.error(
                "E219",
                f"relation `{relation.name}` has no attributes, so no row can dominate another",
                relation.span,
                note="remove `btree_delete` and the subsumption",
            )
    elif subsumed:
        report.error(
            "E218",
            f"relation `{relation.name}` has a subsumption, which its representation `{relation.representation}` lacks",
            relation.span,
            note="remove the qualifier, or write `btree_delete` in its place",
        )


def declare_functors(
    decls: Iterable[ast.FunctorDecl], types: Iterable[ast.TypeDecl], is_type: Callable[[str], bool], report: Report
) -> dict[str, ast.FunctorDecl]:
    known = _KnownTypes({decl.name: decl for decl in types}, is_type)
    functors: dict[str, ast.FunctorDecl] = {}
    for decl in decls:
        if decl.name in functors:
            _twice("E206", "functor", decl, functors[decl.name], report)
            continue
        functors[decl.name] = decl
        for attribute in (*decl.params, decl.result):
            _check_type(attribute, known, report)
    return functors

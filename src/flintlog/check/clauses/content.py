"""What a program, or an instance of a component, declares: rules as clauses, names as far as they are resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from flintlog.check.checked import Clause, SubsumptiveClause
from flintlog.check.clauses.normalise import normalise_rule, normalise_subsumption
from flintlog.check.clauses.traverse import Rebuild
from flintlog.source import Span
from flintlog.syntax import ast

# Old style: said of a relation where it is declared.
DIRECTIVE_QUALIFIERS = ("input", "output", "printsize")


@dataclass
class Content:
    """`arguments` are the types given to components, each with the first place that gives it."""

    types: list[ast.TypeDecl] = field(default_factory=list)
    lattices: list[ast.LatticeDecl] = field(default_factory=list)
    relations: list[ast.RelationDecl] = field(default_factory=list)
    directives: list[ast.Directive] = field(default_factory=list)
    clauses: list[Clause | SubsumptiveClause] = field(default_factory=list)
    arguments: dict[str, Span] = field(default_factory=dict)

    def add(self, other: Content) -> None:
        self.types += other.types
        self.lattices += other.lattices
        self.relations += other.relations
        self.directives += other.directives
        self.clauses += other.clauses
        self.arguments = other.arguments | self.arguments


def head_name(clause: Clause | SubsumptiveClause) -> str:
    """The relation a clause adds to or takes from."""
    return clause.head.name if isinstance(clause, Clause) else clause.dominated.name


class NormalisedRules:
    """The clauses of each source rule, numbered in the order of the text. A rule of a component is normalised once,
    however often the component is instantiated."""

    def __init__(self, program: ast.Program) -> None:
        self._clauses: dict[int, list[Clause | SubsumptiveClause]] = {}
        for origin, rule in enumerate(_rules(program.items)):
            if isinstance(rule, ast.Rule):
                self._clauses[id(rule)] = list(normalise_rule(rule, origin))
            else:
                self._clauses[id(rule)] = list(normalise_subsumption(rule, origin))

    def of(self, rule: ast.Rule | ast.Subsumption) -> list[Clause | SubsumptiveClause]:
        return self._clauses[id(rule)]


def _rules(items: Iterable[ast.Item]) -> Iterator[ast.Rule | ast.Subsumption]:
    for item in items:
        if isinstance(item, ast.Rule | ast.Subsumption):
            yield item
        elif isinstance(item, ast.Component):
            yield from _rules(item.items)


def old_style_directives(relation: ast.RelationDecl) -> list[ast.Directive]:
    """The directives that a declaration's qualifiers stand for."""
    found = [qualifier for qualifier in DIRECTIVE_QUALIFIERS if qualifier in relation.qualifiers]
    return [ast.Directive(qualifier, relation.name, span=relation.span) for qualifier in found]


class Rename:
    """Replaces names in declarations, directives and rules, by maps from old names to new ones."""

    def __init__(self, relations: Mapping[str, str], types: Mapping[str, str]) -> None:
        self._relations = relations
        self._types = types
        self._rebuild = Rebuild(relations, types)

    def relation(self, decl: ast.RelationDecl) -> ast.RelationDecl:
        """Its attributes' types and the relation it is a delta of; its own name is left alone."""
        delta_of = None if decl.delta_of is None else self._relations.get(decl.delta_of, decl.delta_of)
        return replace(decl, attributes=self._attributes(decl.attributes), delta_of=delta_of)

    def type(self, decl: ast.TypeDecl) -> ast.TypeDecl:
        """The types it is made of and its branches' names; its own name is left alone."""
        match decl:
            case ast.SubsetType():
                return replace(decl, base=self._type(decl.base))
            case ast.UnionType():
                return replace(decl, members=tuple(map(self._type, decl.members)))
            case ast.RecordType():
                return replace(decl, fields=self._attributes(decl.fields))
            case ast.AdtType():
                branches = [
                    replace(b, name=self._type(b.name), fields=self._attributes(b.fields)) for b in decl.branches
                ]
                return replace(decl, branches=tuple(branches))

    def lattice(self, decl: ast.LatticeDecl) -> ast.LatticeDecl:
        operators = tuple((name, self._rebuild.argument(arg)) for name, arg in decl.operators)
        return replace(decl, name=self._type(decl.name), operators=operators)

    def directive(self, directive: ast.Directive) -> ast.Directive:
        return replace(directive, relation=self._relations.get(directive.relation, directive.relation))

    def clause(self, clause: Clause | SubsumptiveClause) -> Clause | SubsumptiveClause:
        if isinstance(clause, Clause):
            return self._rebuild.clause(clause)
        return self._rebuild.subsumption(clause)

    def _type(self, name: str) -> str:
        return self._types.get(name, name)

    def _attributes(self, attributes: tuple[ast.Attribute, ...]) -> tuple[ast.Attribute, ...]:
        return tuple([replace(a, type=self._types[a.type]) if a.type in self._types else a for a in attributes])

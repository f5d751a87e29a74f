"""Instances of components: their content, with the instance's name in front of what they declare."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flintlog.check.checked import Clause, SubsumptiveClause
from flintlog.check.clauses.content import Content, NormalisedRules, Rename, head_name, old_style_directives
from flintlog.check.components.component_scope import Binding, ComponentScope, extend, items_of
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


def instantiate(init: ast.Init, scope: ComponentScope, rules: NormalisedRules, report: Report) -> Content:
    """Everything one `.init` of a program brings into being, in terms of the whole program's names.

    A name inside a component means the instance's own relation or type if there is one (declared in the component, in
    a base or in a nested instance), and one of the program around it otherwise.
    """
    instance = _Instantiation(scope, rules, report)
    content = instance.content_of(init, None, {})
    content.clauses += instance.orphans
    return content


@dataclass
class _Instantiation:
    """`orphans` are clauses whose head no component on the way has declared yet: a derived component may still declare
    it, and so may a component around; what remains belongs to the program."""

    scope: ComponentScope
    rules: NormalisedRules
    report: Report

    def __post_init__(self) -> None:
        self.orphans: list[Clause | SubsumptiveClause] = []
        self._open: list[tuple[int, frozenset[tuple[str, str]]]] = []

    def content_of(self, init: ast.Init, around: ast.Component | None, binding: Binding) -> Content:
        content = Content()
        component = self.scope.find(around, init.component.name, binding)
        if component is None:
            # `check_components` has reported it, unless the name came in through a type parameter.
            self._warn_of_unbound(init, binding)
            return content
        active = extend(binding, component.type.params, init.component.params)
        here = (id(component), frozenset(active.items()))
        if here in self._open:
            self.report.error(
                "E243",
                f"instantiating component `{component.type.name}` never ends",
                init.span,
                note="a component cannot contain an instance of itself, not even through another component",
            )
            return content
        self._open.append(here)
        _add_arguments(content, init.component, binding)
        for nested in items_of(component, ast.Init):
            content.add(self.content_of(nested, component, active))
        self._collect(component, active, content, frozenset())
        self._open.pop()
        return self._prefixed(init.name, content)

    def _warn_of_unbound(self, init: ast.Init, binding: Binding) -> None:
        # Soufflé says nothing at all and goes on with an instance that is empty.
        bound = binding.get(init.component.name)
        if bound is not None:
            self.report.warning(
                "W212",
                f"`{init.component.name}` stands for `{bound}` here, which is no component: the instance is empty",
                init.component.span,
                note="give the component's name as type argument of the `.init` or the base component",
            )

    def _collect(
        self, component: ast.Component, binding: Binding, content: Content, overridden: frozenset[str]
    ) -> None:
        """Adds what a component and its bases contain, without the rules of overridden relations."""
        below = overridden | {item.relation for item in items_of(component, ast.Override)}
        around = self.scope.around(component)
        for base_type in component.bases:
            base = self.scope.find(around, base_type.name, binding)
            if base is None:
                continue
            active = extend(binding, base.type.params, base_type.params)
            _add_arguments(content, base_type, binding)
            for nested in items_of(base, ast.Init):
                content.add(self.content_of(nested, base, active))
            self._collect(base, active, content, below)
        self._collect_own(component, binding, content, overridden)

    def _collect_own(
        self, component: ast.Component, binding: Binding, content: Content, overridden: frozenset[str]
    ) -> None:
        bind = Rename({}, binding)
        clauses: list[Clause | SubsumptiveClause] = []
        for item in component.items:
            match item:
                case ast.SubsetType() | ast.UnionType() | ast.RecordType() | ast.AdtType():
                    content.types.append(replace(bind.type(item), name=binding.get(item.name, item.name)))
                case ast.LatticeDecl():
                    content.lattices.append(bind.lattice(item))
                case ast.RelationDecl():
                    content.relations.append(bind.relation(item))
                    content.directives += old_style_directives(item)
                case ast.Directive():
                    self._add_directive(item, content)
                case ast.Rule() | ast.Subsumption():
                    clauses += [bind.clause(clause) for clause in self.rules.of(item)]
        declared_here = {relation.name for relation in content.relations}
        clauses = [c for c in clauses if head_name(c).partition(".")[0] not in overridden]
        waiting = self.orphans + [c for c in clauses if head_name(c) not in declared_here]
        content.clauses += [c for c in clauses if head_name(c) in declared_here]
        content.clauses += [c for c in waiting if head_name(c) in declared_here]
        self.orphans = [c for c in waiting if head_name(c) not in declared_here]

    def _add_directive(self, new: ast.Directive, content: Content) -> None:
        first = next((d for d in content.directives if d.relation == new.relation), None)
        if first is not None and first.kind == new.kind != "output":
            self.report.error(
                "E603",
                f"the component has two `.{new.kind}` directives for `{new.relation}`",
                new.span,
                labels=[Label(first.span, "the first one")],
                note="keep one of the two",
            )
        content.directives.append(new)

    def _prefixed(self, instance: str, content: Content) -> Content:
        types: dict[str, str] = {}
        for declared in content.types:
            types[declared.name] = f"{instance}.{declared.name}"
            for branch in declared.branches if isinstance(declared, ast.AdtType) else ():
                types[branch.name] = f"{instance}.{branch.name}"
        relations = {relation.name: f"{instance}.{relation.name}" for relation in content.relations}
        rename = Rename(relations, types)
        self.orphans = [rename.clause(clause) for clause in self.orphans]
        return Content(
            [replace(rename.type(t), name=types[t.name]) for t in content.types],
            [rename.lattice(lattice) for lattice in content.lattices],
            [replace(rename.relation(r), name=relations[r.name]) for r in content.relations],
            [rename.directive(directive) for directive in content.directives],
            [rename.clause(clause) for clause in content.clauses],
            content.arguments,
        )


def _add_arguments(content: Content, reference: ast.ComponentType, binding: Binding) -> None:
    for name in reference.params:
        content.arguments.setdefault(binding.get(name, name), reference.span)

"""Which component a name means, and which mistakes in components show without instantiating them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.source import Span
from flintlog.syntax import ast

# Type parameters of a component to what they stand for.
Binding: TypeAlias = Mapping[str, str]

_T = TypeVar("_T")


def items_of(component: ast.Component, kind: type[_T]) -> Iterator[_T]:
    """The items of one kind, in the order of the text."""
    return (item for item in component.items if isinstance(item, kind))


def extend(binding: Binding, formal: Sequence[str], actual: Sequence[str]) -> Binding:
    """The binding inside a component. Only its own parameters are visible there, not those of the component around."""
    if len(formal) != len(actual):
        return binding
    return {name: binding.get(value, value) for name, value in zip(formal, actual, strict=True)}


class ComponentScope:
    """The components of a program and how they nest."""

    def __init__(self, program: ast.Program) -> None:
        self.components = [item for item in program.items if isinstance(item, ast.Component)]
        self._around: dict[int, ast.Component | None] = {}
        for component in self.components:
            self._enter(component, None)

    def _enter(self, component: ast.Component, around: ast.Component | None) -> None:
        self._around[id(component)] = around
        for nested in items_of(component, ast.Component):
            self._enter(nested, component)

    def around(self, component: ast.Component) -> ast.Component | None:
        """The component in which this one is declared."""
        return self._around[id(component)]

    def find(self, scope: ast.Component | None, name: str, binding: Binding) -> ast.Component | None:
        """The component a name means inside `scope`: one declared there or in a base, else one further out."""
        return self._find(scope, binding.get(name, name), binding, frozenset())

    def _find(
        self, scope: ast.Component | None, name: str, binding: Binding, searching: frozenset[tuple[int, str]]
    ) -> ast.Component | None:
        while scope is not None and (id(scope), name) not in searching:
            # A cycle of inheritance leads back to a search that is under way.
            searching |= {(id(scope), name)}
            for nested in items_of(scope, ast.Component):
                if nested.type.name == name:
                    return nested
            for base_type in scope.bases:
                base_name = binding.get(base_type.name, base_type.name)
                base = self._find(self.around(scope), base_name, binding, searching)
                found = None if base is None else self._find(base, name, binding, searching)
                if found is not None:
                    return found
            scope = self.around(scope)
        return next((c for c in self.components if c.type.name == name), None)

    def known(self, scope: ast.Component | None) -> list[str]:
        """The names one could have meant inside `scope`."""
        names = [c.type.name for c in self.components]
        while scope is not None:
            names += [c.type.name for c in items_of(scope, ast.Component)]
            scope = self.around(scope)
        return names


def check_components(program: ast.Program, scope: ComponentScope, report: Report) -> None:
    """Reports unknown components, wrong numbers of type arguments, cycles of inheritance and wrong overrides."""
    for component in scope.components:
        _check_component(component, None, {}, scope, report)
    for item in program.items:
        if isinstance(item, ast.Init):
            _check_reference(item.component, item.component.span, None, {}, scope, report)
    _check_clashes(program, report)


def _check_component(
    component: ast.Component, around: ast.Component | None, binding: Binding, scope: ComponentScope, report: Report
) -> None:
    params = component.type.params
    inside = extend(binding, params, params)
    for base in component.bases:
        _check_reference(base, base.span, around, inside, scope, report)
    ancestors = _ancestors(component, around, binding, scope)
    if any(ancestor is component for ancestor in ancestors):
        others = [c for c in ancestors if any(a is component for a in _ancestors(c, around, binding, scope))]
        # Every component of a cycle inherits from itself: the first one speaks for all.
        if min(others, key=lambda c: c.type.span.start) is component:
            cycle = " and ".join(f"`{c.type.name}`" for c in others if c is not component)
            report.error(
                "E242",
                f"component `{component.type.name}` inherits from itself" + (f" through {cycle}" if cycle else ""),
                component.type.span,
                note="remove one of the base components on the cycle",
            )
    _check_overrides(component, ancestors, report)
    for nested in items_of(component, ast.Component):
        _check_component(nested, component, inside, scope, report)
    for init in items_of(component, ast.Init):
        _check_reference(init.component, init.component.span, component, inside, scope, report)


def _check_reference(
    reference: ast.ComponentType,
    span: Span,
    around: ast.Component | None,
    binding: Binding,
    scope: ComponentScope,
    report: Report,
) -> None:
    if reference.name in binding:
        return  # a type parameter: what it stands for shows at the instance
    component = scope.find(around, reference.name, binding)
    if component is None:
        note = did_you_mean(reference.name, scope.known(around))
        report.error(
            "E240",
            f"unknown component `{reference.name}`",
            span,
            note=note or f"declare it with `.comp {reference.name} {{ … }}`",
        )
        return
    expected, given = len(component.type.params), len(reference.params)
    if expected != given:
        report.error(
            "E241",
            f"component `{reference.name}` takes {expected} type argument{'' if expected == 1 else 's'}, not {given}",
            span,
            labels=[Label(component.type.span, "declared here")],
            note="give one type or component for each parameter",
        )


def _ancestors(
    component: ast.Component, around: ast.Component | None, binding: Binding, scope: ComponentScope
) -> list[ast.Component]:
    found: dict[int, ast.Component] = {}
    waiting = [component]
    while waiting:
        for base_type in waiting.pop().bases:
            base = scope.find(around, base_type.name, binding)
            if base is not None and id(base) not in found:
                found[id(base)] = base
                waiting.append(base)
    return list(found.values())


def _check_overrides(component: ast.Component, ancestors: list[ast.Component], report: Report) -> None:
    own = {relation.name: relation for relation in items_of(component, ast.RelationDecl)}
    for override in items_of(component, ast.Override):
        name = override.relation
        inherited = [r for base in ancestors for r in items_of(base, ast.RelationDecl) if r.name == name]
        if name in own:
            report.error(
                "E244",
                f"`{name}` is declared in this component, so there is nothing to override",
                override.span,
                labels=[Label(own[name].span, "declared here")],
                note="`.override` is for relations of a base component; remove it or the declaration",
            )
        for relation in inherited:
            if "overridable" not in relation.qualifiers:
                report.error(
                    "E245",
                    f"relation `{name}` cannot be overridden",
                    override.span,
                    labels=[Label(relation.span, "declared here, without `overridable`")],
                    note="add the qualifier `overridable` to its declaration",
                )
        if name not in own and not inherited:
            known = [r.name for base in ancestors for r in items_of(base, ast.RelationDecl)]
            report.warning(
                "W207",
                f"no base component has a relation `{name}`, so the override does nothing",
                override.span,
                note=did_you_mean(name, known) or "remove it, or name a relation of a base component",
            )


def _check_clashes(program: ast.Program, report: Report) -> None:
    """Components and instances of the program share their names with types and relations."""
    names: dict[str, tuple[str, Span]] = {}
    for item in program.items:
        if isinstance(item, ast.SubsetType | ast.UnionType | ast.RecordType | ast.AdtType):
            names.setdefault(item.name, ("type", item.span))
    for item in program.items:
        if isinstance(item, ast.RelationDecl):
            names.setdefault(item.name, ("relation", item.span))
    entries: list[tuple[str, str, str, Span]] = []
    entries += [("E246", "component", i.type.name, i.type.span) for i in program.items if isinstance(i, ast.Component)]
    entries += [("E247", "instance", i.name, i.span) for i in program.items if isinstance(i, ast.Init)]
    for code, what, name, span in entries:
        if name in names:
            other, first = names[name]
            report.error(
                code,
                f"the name of {what} `{name}` is taken",
                span,
                labels=[Label(first, f"{other} `{name}`")],
                note="give one of them another name",
            )
        else:
            names[name] = (what, span)

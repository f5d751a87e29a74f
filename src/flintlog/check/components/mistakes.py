"""The mistakes in components that show without instantiating them."""

from __future__ import annotations

from flintlog.check.components.component_scope import Binding, ComponentScope, extend, items_of
from flintlog.check.missing import Missing
from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.source import Span
from flintlog.syntax import ast


def check_components(program: ast.Program, scope: ComponentScope, missing: Missing, report: Report) -> set[str]:
    """Reports unknown components, wrong numbers of type arguments, cycles of inheritance, wrong overrides and names
    that are taken. Returns the instances of the program that cannot be made for such a reason."""
    checker = _Checker(scope, missing, report)
    for component in scope.components:
        checker.check_component(component, None, {})
    unsound = checker.check_clashes(program)
    for item in program.items:
        if isinstance(item, ast.Init) and not checker.check_instance(item):
            unsound.add(item.name)
    return unsound


class _Checker:
    """`_unsound` holds the components, by identity, with a mistake of their own."""

    def __init__(self, scope: ComponentScope, missing: Missing, report: Report) -> None:
        self._scope = scope
        self._missing = missing
        self._report = report
        self._unsound: set[int] = set()

    def check_component(self, component: ast.Component, around: ast.Component | None, binding: Binding) -> None:
        params = component.type.params
        inside = extend(binding, params, params)
        sound = [self._check_reference(base, around, inside) for base in component.bases]
        ancestors = self._ancestors(component, around, binding)
        if any(ancestor is component for ancestor in ancestors):
            sound.append(False)
            self._inherits_from_itself(component, ancestors, around, binding)
        sound.append(self._check_overrides(component, ancestors))
        for nested in items_of(component, ast.Component):
            self.check_component(nested, component, inside)
        sound += [self._check_reference(i.component, component, inside) for i in items_of(component, ast.Init)]
        if not all(sound):
            self._unsound.add(id(component))

    def check_instance(self, init: ast.Init) -> bool:
        """Whether an instance of the program can be made."""
        if not self._check_reference(init.component, None, {}):
            return False
        names = (init.component.name, *init.component.params)
        waiting = [found for name in names if (found := self._scope.find(None, name, {})) is not None]
        seen: set[int] = set()
        while waiting:
            component = waiting.pop()
            if id(component) in self._unsound:
                return False
            if id(component) not in seen:
                seen.add(id(component))
                waiting += self._scope.depends_on(component)
        return True

    def _check_reference(self, reference: ast.ComponentType, around: ast.Component | None, binding: Binding) -> bool:
        if reference.name in binding:
            return True  # a type parameter: what it stands for shows at the instance
        component = self._scope.find(around, reference.name, binding)
        if component is None:
            if reference.name not in self._missing:
                note = did_you_mean(reference.name, self._scope.known(around))
                self._report.error(
                    "E240",
                    f"unknown component `{reference.name}`",
                    reference.span,
                    note=note or f"declare it with `.comp {reference.name} {{ … }}`",
                )
            return False
        expected, given = len(component.type.params), len(reference.params)
        if expected != given:
            arguments = f"{expected} type argument{'' if expected == 1 else 's'}"
            self._report.error(
                "E241",
                f"component `{reference.name}` takes {arguments}, not {given}",
                reference.span,
                labels=[Label(component.type.span, "declared here")],
                note="give one type or component for each parameter",
            )
        return expected == given

    def _ancestors(
        self, component: ast.Component, around: ast.Component | None, binding: Binding
    ) -> list[ast.Component]:
        found: dict[int, ast.Component] = {}
        waiting = [component]
        while waiting:
            for base_type in waiting.pop().bases:
                base = self._scope.find(around, base_type.name, binding)
                if base is not None and id(base) not in found:
                    found[id(base)] = base
                    waiting.append(base)
        return list(found.values())

    def _inherits_from_itself(
        self,
        component: ast.Component,
        ancestors: list[ast.Component],
        around: ast.Component | None,
        binding: Binding,
    ) -> None:
        others = [c for c in ancestors if any(a is component for a in self._ancestors(c, around, binding))]
        # Every component of a cycle inherits from itself: the first one speaks for all.
        if min(others, key=lambda c: c.type.span.start) is component:
            cycle = " and ".join(f"`{c.type.name}`" for c in others if c is not component)
            self._report.error(
                "E242",
                f"component `{component.type.name}` inherits from itself" + (f" through {cycle}" if cycle else ""),
                component.type.span,
                note="remove one of the base components on the cycle",
            )

    def _check_overrides(self, component: ast.Component, ancestors: list[ast.Component]) -> bool:
        before = len(self._report.errors)
        own = {relation.name: relation for relation in items_of(component, ast.RelationDecl)}
        for override in items_of(component, ast.Override):
            name = override.relation
            inherited = [r for base in ancestors for r in items_of(base, ast.RelationDecl) if r.name == name]
            if name in own:
                self._report.error(
                    "E244",
                    f"`{name}` is declared in this component, so there is nothing to override",
                    override.span,
                    labels=[Label(own[name].span, "declared here")],
                    note="`.override` is for relations of a base component; remove it or the declaration",
                )
            for relation in inherited:
                if "overridable" not in relation.qualifiers:
                    self._report.error(
                        "E245",
                        f"relation `{name}` cannot be overridden",
                        override.span,
                        labels=[Label(relation.span, "declared here, without `overridable`")],
                        note="add the qualifier `overridable` to its declaration",
                    )
            if name not in own and not inherited and name not in self._missing:
                known = [r.name for base in ancestors for r in items_of(base, ast.RelationDecl)]
                self._report.warning(
                    "W207",
                    f"no base component has a relation `{name}`, so the override does nothing",
                    override.span,
                    note=did_you_mean(name, known) or "remove it, or name a relation of a base component",
                )
        return len(self._report.errors) == before

    def check_clashes(self, program: ast.Program) -> set[str]:
        """Components and instances of the program share their names with types and relations. Returns the names of the
        instances that are taken; components are unsound then."""
        names: dict[str, tuple[str, Span]] = {}
        for item in program.items:
            if isinstance(item, ast.SubsetType | ast.UnionType | ast.RecordType | ast.AdtType):
                names.setdefault(item.name, ("type", item.span))
        for item in program.items:
            if isinstance(item, ast.RelationDecl):
                names.setdefault(item.name, ("relation", item.span))
        entries: list[tuple[str, str, str, Span]] = []
        entries += [("E246", "component", c.type.name, c.type.span) for c in self._scope.components]
        entries += [("E247", "instance", i.name, i.span) for i in program.items if isinstance(i, ast.Init)]
        taken: set[str] = set()
        for code, what, name, span in entries:
            if name not in names:
                names[name] = (what, span)
                continue
            other, first = names[name]
            self._report.error(
                code,
                f"the name of {what} `{name}` is taken",
                span,
                labels=[Label(first, f"{other} `{name}`")],
                note="give one of them another name",
            )
            taken.add(name)
        self._unsound.update(id(c) for c in self._scope.components if c.type.name in taken)
        return taken

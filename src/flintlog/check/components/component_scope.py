"""Which component a name means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

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

    def depends_on(self, component: ast.Component) -> Iterator[ast.Component]:
        """The components that an instance of this one takes in: bases, nested instances, and what is given to them."""
        places = [(self.around(component), base) for base in component.bases]
        places += [(component, init.component) for init in items_of(component, ast.Init)]
        for scope, reference in places:
            for name in (reference.name, *reference.params):
                found = self.find(scope, name, {})
                if found is not None:
                    yield found

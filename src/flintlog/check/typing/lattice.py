"""The types a program has, and how they stand to each other.

Every primitive type is a subset of its *constant* type, the type of literals and of computed values: a value of a
constant type fits each subset of it, while a value of one subset never fits another without a cast. Aliases are gone:
an alias names the same node as what it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from flintlog.source import NOWHERE, Span
from flintlog.syntax import ast
from flintlog.types import Kind, TypeTable


@dataclass(eq=False)
class TypeNode:
    """`name` is as the user writes it; nodes are compared by identity."""

    name: str
    kind: Kind
    span: Span = field(default=NOWHERE, kw_only=True)

    @cached_property
    def alone(self) -> frozenset[TypeNode]:
        """The set of this type only; always the same object."""
        return frozenset((self,))


@dataclass(eq=False)
class ConstantType(TypeNode):
    """The type of literals and computed values of a primitive kind."""


@dataclass(eq=False)
class SubsetType(TypeNode):
    base: TypeNode


@dataclass(eq=False)
class UnionType(TypeNode):
    members: tuple[TypeNode, ...]


@dataclass(eq=False)
class RecordType(TypeNode):
    """`fields` is filled after construction, since records may refer to themselves."""

    fields: tuple[TypeNode, ...] = ()


@dataclass(eq=False)
class AdtType(TypeNode):
    branches: dict[str, tuple[TypeNode, ...]] = field(default_factory=dict)


# What an argument may be: a set of types, or None as long as nothing restricts it.
TypeSet: TypeAlias = frozenset[TypeNode] | None

NO_TYPE: frozenset[TypeNode] = frozenset()


class TypeEnv:
    """The types of one program. `is_sound` is False when a declaration was wrong, so that inference makes no sense."""

    def __init__(self) -> None:
        self.constants = {
            kind: ConstantType(kind.value, kind) for kind in (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL)
        }
        self.numeric = tuple(node for kind, node in self.constants.items() if kind.is_numeric)
        self.nodes: dict[str, TypeNode] = {
            kind.value: SubsetType(kind.value, kind, node) for kind, node in self.constants.items()
        }
        self.branches: dict[str, AdtType] = {}
        self.branch_decls: dict[str, ast.Branch] = {}
        self.table: TypeTable = {}
        self.is_sound = True
        self._subtype: dict[tuple[TypeNode, TypeNode], bool] = {}
        self._common: dict[tuple[TypeNode, TypeNode], frozenset[TypeNode]] = {}

    def is_type(self, name: str) -> bool:
        return name in self.nodes

    def is_subtype(self, a: TypeNode, b: TypeNode) -> bool:
        """Whether every value of `a` may stand where `b` is asked for."""
        if a is b:
            return True
        known = self._subtype.get((a, b))
        if known is None:
            known = self._subtype[a, b] = self._derives(a, b) or self._through_unions(a, b)
        return known

    def is_equivalent(self, a: TypeNode, b: TypeNode) -> bool:
        return a is b or (self.is_subtype(a, b) and self.is_subtype(b, a))

    def _derives(self, a: TypeNode, b: TypeNode) -> bool:
        if a is b:
            return True
        if isinstance(a, SubsetType):
            return self._derives(a.base, b)
        if isinstance(a, UnionType):
            return all(self._derives(member, b) for member in a.members)
        return False

    def _through_unions(self, a: TypeNode, b: TypeNode) -> bool:
        if isinstance(a, UnionType):
            return all(self.is_subtype(member, b) for member in a.members)
        if isinstance(b, UnionType):
            return any(self.is_subtype(a, member) for member in b.members)
        return False

    def common(self, a: TypeNode, b: TypeNode) -> frozenset[TypeNode]:
        """The greatest types below both."""
        known = self._common.get((a, b))
        if known is None:
            known = self._common[a, b] = self._greatest_below(a, b)
        return known

    def _greatest_below(self, a: TypeNode, b: TypeNode) -> frozenset[TypeNode]:
        if self.is_subtype(a, b):
            return a.alone
        if self.is_subtype(b, a):
            return b.alone
        if isinstance(a, UnionType) and isinstance(b, UnionType):
            return frozenset(self._members_below(a, b))
        return NO_TYPE

    def _members_below(self, a: TypeNode, b: TypeNode) -> Iterable[TypeNode]:
        if self.is_subtype(a, b):
            yield a
        elif isinstance(a, UnionType):
            for member in a.members:
                yield from self._members_below(member, b)

    def meet(self, a: TypeSet, b: TypeSet) -> TypeSet:
        """The types below one of `a` and one of `b`."""
        if a is b or b is None or (a is not None and not a):
            return a
        if a is None or not b:
            return b
        if len(a) == 1 and len(b) == 1:
            (one,), (other,) = a, b
            return self.common(one, other)
        return frozenset(t for one in a for other in b for t in self.common(one, other))


def kind_of(types: TypeSet) -> Kind | None:
    """The kind all types of a set share; None where there is none."""
    if not types:
        return None
    kinds = {node.kind for node in types}
    return kinds.pop() if len(kinds) == 1 else None


def base_of(node: TypeNode) -> TypeNode:
    """What a subset comes down to: a constant type, a record, a union or an algebraic data type."""
    while isinstance(node, SubsetType):
        node = node.base
    return node

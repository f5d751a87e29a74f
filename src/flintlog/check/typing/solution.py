"""What inference found for one clause."""

from __future__ import annotations

from dataclasses import dataclass

from flintlog.check.typing.collect import Collector, Context, Resolved
from flintlog.check.typing.constraints import Assignment
from flintlog.check.typing.lattice import TypeSet
from flintlog.syntax import ast
from flintlog.types import Kind


@dataclass(frozen=True, eq=False)
class Solution:
    """The nodes and constraints of a clause (or of a lattice's operator), the types that satisfy them, and the
    overloads and literals decided on the way."""

    context: Context
    collector: Collector
    types: Assignment
    resolved: Resolved

    def types_of(self, node: ast.Argument) -> TypeSet:
        return self.types[self.collector.key(node)]

    def is_of_kind(self, node: ast.Argument, kind: Kind) -> bool:
        """Whether the node has a type, and only types of this kind."""
        types = self.types_of(node)
        return bool(types) and all(t.kind is kind for t in types or ())

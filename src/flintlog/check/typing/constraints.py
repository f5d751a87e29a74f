"""What restricts the types of an argument, and the search for the largest type sets that satisfy all of it.

An argument starts out as "any type"; each constraint takes types away. Keys are a variable's scoped name, or the
identity of any other argument node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flintlog.check.grounding.groundedness import Term
from flintlog.check.typing.lattice import (
    NO_TYPE,
    ConstantType,
    RecordType,
    SubsetType,
    TypeEnv,
    TypeNode,
    TypeSet,
    base_of,
)
from flintlog.check.typing.overloads import Overload
from flintlog.types import Kind


class Assignment(dict[Term, TypeSet]):
    """Types by key; a key that is absent may still be anything."""

    def __missing__(self, key: Term) -> TypeSet:
        return None


class Constraint(Protocol):
    def update(self, types: Assignment, env: TypeEnv) -> bool:
        """Removes types the constraint rules out; True if there were any."""


class Below:
    """The argument's types are subtypes of one type."""

    __slots__ = ("key", "limit")

    def __init__(self, key: Term, limit: TypeNode) -> None:
        self.key = key
        self.limit = limit.alone

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        current = types[self.key]
        if current is self.limit:
            return False
        narrowed = env.meet(current, self.limit)
        types[self.key] = narrowed
        return narrowed != current


class BelowOneOf:
    """Each of the argument's types is a subtype of one of several types."""

    __slots__ = ("key", "limits")

    def __init__(self, key: Term, limits: Sequence[TypeNode]) -> None:
        self.key = key
        self.limits = limits

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        current = types[self.key]
        if current is None:
            types[self.key] = frozenset(self.limits)
            return True
        kept = frozenset(t for t in current if any(env.is_subtype(t, limit) for limit in self.limits))
        types[self.key] = kept
        return kept != current


class Equal:
    """Two arguments have the same types."""

    __slots__ = ("left", "right")

    def __init__(self, left: Term, right: Term) -> None:
        self.left = left
        self.right = right

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        left, right = types[self.left], types[self.right]
        if left is right:
            return False
        new_right = env.meet(right, left)
        new_left = env.meet(left, new_right)
        types[self.left], types[self.right] = new_left, new_right
        return new_left != left or new_right != right


class SameBase:
    """Two arguments rest on the same primitive type, whatever subsets of it they are: operands of arithmetic."""

    __slots__ = ("left", "right")

    def __init__(self, left: Term, right: Term) -> None:
        self.left = left
        self.right = right

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        left, right = types[self.left], types[self.right]
        if left is None and right is None:
            return False
        if left is None:
            types[self.left] = _bases(right)
            return True
        if right is None:
            types[self.right] = _bases(left)
            return True
        shared = _bases(left) & _bases(right)
        new_left = frozenset(t for t in left if any(env.is_subtype(t, base) for base in shared))
        new_right = frozenset(t for t in right if any(env.is_subtype(t, base) for base in shared))
        types[self.left], types[self.right] = new_left, new_right
        return new_left != left or new_right != right


def _bases(types: TypeSet) -> frozenset[TypeNode]:
    return frozenset(base_of(t) for t in types or () if isinstance(t, SubsetType | ConstantType))


class FieldOf:
    """An argument is a field of a record."""

    __slots__ = ("element", "index", "record")

    def __init__(self, element: Term, record: Term, index: int) -> None:
        self.element = element
        self.record = record
        self.index = index

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        records = types[self.record]
        if records is None:
            return False
        kept, fields = set(), set()
        for node in records:
            root = base_of(node)
            if isinstance(root, RecordType) and self.index < len(root.fields):
                kept.add(node)
                fields.add(root.fields[self.index])
        element = types[self.element]
        new_element = env.meet(element, frozenset(fields))
        new_records = frozenset(kept)
        types[self.record], types[self.element] = new_records, new_element
        return new_records != records or new_element != element


class Overloaded:
    """A built-in operation whose overload is not decided yet. Candidates fall away as types become known; the last one
    left decides arguments and result."""

    __slots__ = ("args", "candidates", "is_infix", "is_raw", "result", "was_set")

    def __init__(
        self, result: Term, args: Sequence[Term], candidates: Sequence[Overload], *, is_infix: bool, is_raw: bool
    ) -> None:
        self.result = result
        self.args = args
        self.candidates = [o for o in candidates if o.takes(len(args))]
        self.is_infix = is_infix
        self.is_raw = is_raw
        self.was_set = False

    def update(self, types: Assignment, env: TypeEnv) -> bool:
        kinds = [_kinds(types[arg]) for arg in self.args]
        results = _kinds(types[self.result])
        self.candidates = [o for o in self.candidates if _fits(o, kinds, results)]
        if not self.candidates:
            changed = types[self.result] != NO_TYPE
            types[self.result] = NO_TYPE
            return changed
        return len(self.candidates) == 1 and self._decide(self.candidates[0], types, env)

    def _decide(self, overload: Overload, types: Assignment, env: TypeEnv) -> bool:
        changed = False
        # `ord` takes anything, so it says nothing about its argument.
        for position, arg in enumerate(() if self.is_raw else self.args):
            changed |= _restrict(types, arg, overload.param(position))
        if self.is_infix or self.was_set:
            return _restrict(types, self.result, overload.result) or changed
        self.was_set = True
        new = env.constants[overload.result].alone
        changed |= types[self.result] != new
        types[self.result] = new
        return changed


def _kinds(types: TypeSet) -> set[Kind] | None:
    return None if types is None else {t.kind for t in types}


def _fits(overload: Overload, args: Sequence[set[Kind] | None], results: set[Kind] | None) -> bool:
    if results is not None and overload.result not in results:
        return False
    return all(kinds is None or overload.param(i) in kinds for i, kinds in enumerate(args))


def _restrict(types: Assignment, key: Term, kind: Kind) -> bool:
    current = types[key]
    if current is None:
        return False
    kept = frozenset(t for t in current if t.kind is kind)
    types[key] = kept
    return kept != current


def solve(constraints: Sequence[Constraint], env: TypeEnv, *, once: bool = False) -> Assignment:
    """The largest type sets that satisfy all constraints. `once` is enough where each speaks of one argument only."""
    types = Assignment()
    changed = True
    while changed:
        changed = False
        for constraint in constraints:
            if constraint.update(types, env):
                changed = not once
    return types

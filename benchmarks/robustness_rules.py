"""Rules whose joins can be written in many orders, and programs that have one of them written in a given order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.definition import PROGRAMS, DefinitionError

Order = tuple[int, ...]


@dataclass(frozen=True)
class JoinRule:
    """A rule of a benchmark's program, head and atoms as they stand there, and the data set it is measured on."""

    program: str
    name: str
    data: str
    head: str
    atoms: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.program}:{self.name}"

    def source(self) -> str:
        return (PROGRAMS / self.program / "program.dl").read_text(encoding="utf-8")


RULES = (
    JoinRule("galen", "r3", "galen", "OutP(x, z)", ("C(y, w, z)", "OutP(x, w)", "OutP(x, y)")),
    JoinRule("galen", "r6", "galen", "OutQ(x, e, o)", ("OutQ(x, y, z)", "R(y, u, e)", "OutQ(z, u, o)")),
    JoinRule(
        "points_to",
        "load",
        "doop-int",
        "VarPointsTo(heap, to)",
        (
            "Reach(method)",
            "LoadField(base, field, to, method)",
            "VarPointsTo(baseheap, base)",
            "InstanceFieldPointsTo(heap, field, baseheap)",
        ),
    ),
    JoinRule(
        "points_to",
        "store",
        "doop-int",
        "InstanceFieldPointsTo(heap, field, baseheap)",
        (
            "Reach(method)",
            "StoreField(from, base, field, method)",
            "VarPointsTo(baseheap, base)",
            "VarPointsTo(heap, from)",
        ),
    ),
    JoinRule(
        "points_to",
        "call",
        "doop-int",
        "CallGraphEdge(call, callee)",
        (
            "Reach(method)",
            "VirtualCall(call, base, name, descriptor, method)",
            "VarPointsTo(heap, base)",
            "HeapAllocationType(heap, type)",
            "MethodLookup(name, descriptor, type, callee)",
        ),
    ),
)


def orders(atoms: Sequence[str]) -> list[Order]:
    """Every order of the atoms in which each, from the second on, shares a variable with one before it.

    >>> orders(["a(x, y)", "b(y, z)", "c(z)"])
    [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0)]
    """
    variables = [_variables(atom) for atom in atoms]
    return list(_extended((), set(), variables))


def _extended(order: Order, bound: set[str], variables: Sequence[set[str]]) -> Iterator[Order]:
    if len(order) == len(variables):
        yield order
        return
    for i, names in enumerate(variables):
        if i not in order and (not order or names & bound):
            yield from _extended((*order, i), bound | names, variables)


def _variables(atom: str) -> set[str]:
    arguments = atom.partition("(")[2].rpartition(")")[0].split(",")
    return {name for word in arguments if (name := word.strip()).isidentifier() and name != "_"}


def spread(found: Sequence[Order], most: int | None) -> list[Order]:
    """At most so many of the orders, the written one among them, at equal distances.

    >>> spread([(0,), (1,), (2,), (3,)], 2)
    [(0,), (2,)]
    """
    if most is None or len(found) <= most:
        return list(found)
    return [found[i * len(found) // most] for i in range(most)]


def written_in(rule: JoinRule, order: Order) -> str:
    """The rule's program with its atoms in this order. Raises DefinitionError if the program does not have the rule."""
    pattern = rf"{re.escape(rule.head)}\s*:-\s*" + r"\s*,\s*".join(map(re.escape, rule.atoms)) + r"\s*\."
    body = ", ".join(rule.atoms[i] for i in order)
    text, count = re.subn(pattern, lambda _: f"{rule.head} :- {body}.", rule.source())
    if count != 1:
        raise DefinitionError(f"program.dl of {rule.program} has the rule {rule.name} {count} times, not once")
    return text

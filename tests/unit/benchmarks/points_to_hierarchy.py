"""The class hierarchy of the points-to benchmark, read off its facts without Flintlog: supertypes and method lookup."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

Facts = dict[str, list[tuple[int, ...]]]
ABSTRACT, OBJECT, CLONEABLE, SERIALIZABLE = 1, 9, 10, 11


def read_facts(folder: Path) -> Facts:
    """Every `*.facts` file of the folder as rows of integers, by stem."""
    return {
        path.stem: [tuple(map(int, line.split("\t"))) for line in path.read_text().splitlines()]
        for path in folder.glob("*.facts")
    }


def mapping(rows: Iterable[tuple[int, ...]]) -> dict[int, int]:
    """First column to second, which the first determines."""
    return {row[0]: row[1] for row in rows}


def grouped(rows: Iterable[tuple[int, ...]], column: int) -> dict[int, list[tuple[int, ...]]]:
    """The rows, by the value in one column."""
    groups: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


class Hierarchy:
    """Supertypes of every type, and the method each type answers a name and descriptor with."""

    def __init__(self, facts: Facts) -> None:
        self.classes = {t for (t,) in facts["ClassType"]}
        self.interfaces = {t for (t,) in facts["InterfaceType"]}
        self.arrays = {t for (t,) in facts["ArrayType"]}
        self.references = self.classes | self.interfaces | self.arrays
        self.superclass = mapping(facts["DirectSuperclass"])
        self.superinterfaces = {
            t: [row[1] for row in rows] for t, rows in grouped(facts["DirectSuperinterface"], 0).items()
        }
        self.component = mapping(facts["ComponentType"])
        self.descriptor = mapping(facts["Method_Descriptor"])
        self.declarer = {row[0]: row[3] for row in facts["Method"]}
        self.key = {row[0]: (row[1], self.descriptor[row[0]]) for row in facts["Method"]}
        self.modifiers: dict[int, set[int]] = defaultdict(set)
        for modifier, method in facts["Method-Modifier"]:
            self.modifiers[method].add(modifier)
        self.own: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
        for method, key in self.key.items():
            if ABSTRACT not in self.modifiers[method]:
                self.own[self.declarer[method]][key] = method
        self.supertypes_of: dict[int, set[int]] = {}
        self.lookup_of: dict[int, dict[tuple[int, int], int]] = {}

    def supertypes(self, t: int) -> set[int]:
        """Every type that an object of the type may be assigned to; none for a primitive type."""
        if t not in self.supertypes_of:
            found = {t} if t in self.references else set()
            if t in self.arrays:
                found |= {OBJECT, CLONEABLE, SERIALIZABLE}
                above = self.supertypes(self.component[t])
                found |= {a for a in self.arrays if self.component[a] in above}
            elif t in self.interfaces:
                found.add(OBJECT)
            for above_type in self.above(t):
                found |= {above_type} | self.supertypes(above_type)
            self.supertypes_of[t] = found
        return self.supertypes_of[t]

    def above(self, t: int) -> list[int]:
        """The superclass and superinterfaces that the type names."""
        return ([self.superclass[t]] if t in self.superclass else []) + self.superinterfaces.get(t, [])

    def superclasses(self, t: int) -> Iterable[int]:
        while t in self.superclass:
            t = self.superclass[t]
            yield t

    def lookup(self, t: int) -> dict[tuple[int, int], int]:
        """What an object of the type runs, by name and descriptor."""
        if t not in self.lookup_of:
            parent = OBJECT if t in self.arrays else self.superclass.get(t)
            inherited = {} if parent is None else self.lookup(parent)
            self.lookup_of[t] = {**inherited, **self.own.get(t, {})}
        return self.lookup_of[t]

"""Cuts the facts of data set doop-int down to a few classes, so that a slow engine can run the whole analysis.

    python cut_facts.py FACTS_DIR OUT_DIR --classes 200

Classes are taken breadth first from the main class, along every type that a kept class mentions; supertypes come with
them. A fact stays when all the types, methods and fields that it names belong to kept classes; the declarations of
fields and variables stay with their class whatever their type.
"""

from __future__ import annotations

import argparse
from collections import defaultdict, deque
from pathlib import Path

Rows = list[tuple[str, ...]]

# Classes that the rules of program.dl name, or declare methods that they name.
ROOTS = (
    "java.lang.Object", "java.lang.Cloneable", "java.io.Serializable", "java.lang.String", "java.lang.Class",
    "java.lang.Throwable", "java.lang.Thread", "java.lang.ThreadGroup", "java.lang.System", "java.lang.Runnable",
    "java.security.AccessController", "java.security.PrivilegedAction",
)  # fmt: skip

# Column that holds the method which a statement, variable or parameter belongs to.
OWNER = {
    "AssignCast": 5, "AssignHeapAllocation": 4, "AssignLocal": 4, "FormalParam": 1, "LoadArrayIndex": 4,
    "LoadInstanceField": 5, "LoadStaticField": 4, "Method-Modifier": 1, "Method": 0, "Method_Descriptor": 0,
    "Return": 3, "SpecialMethodInvocation": 4, "StaticMethodInvocation": 3, "StoreArrayIndex": 4,
    "StoreInstanceField": 5, "StoreStaticField": 4, "ThisVar": 0, "Var-DeclaringMethod": 1,
    "VirtualMethodInvocation": 4,
}  # fmt: skip

# Other columns that name a type, a method or a field: of declarations, and of what is cut.
DECLARATIONS = {"Field": {1: "type", 3: "type"}, "Var-Type": {1: "type"}}
MENTIONS = {
    "ApplicationClass": {0: "type"}, "ArrayType": {0: "type"}, "AssignCast": {4: "type"}, "ClassType": {0: "type"},
    "ComponentType": {0: "type"}, "DirectSuperclass": {0: "type"}, "DirectSuperinterface": {0: "type"},
    "InterfaceType": {0: "type"}, "LoadInstanceField": {4: "field"}, "LoadStaticField": {3: "field"},
    "MainClass": {0: "type"}, "NormalHeap": {1: "type"}, "SpecialMethodInvocation": {2: "method"},
    "StaticMethodInvocation": {2: "method"}, "StoreInstanceField": {4: "field"}, "StoreStaticField": {3: "field"},
    "VirtualMethodInvocation": {2: "method"},
}  # fmt: skip


class Cutter:
    """The full facts, and the classes that each class mentions."""

    def __init__(self, folder: Path) -> None:
        self.facts = {path.stem: read_rows(path) for path in sorted(folder.glob("*.facts"))}
        names = [line.split("\t", 1) for line in (folder / "names.tsv").read_text().splitlines()]
        self.roots = [number for number, *name in names if name and name[0] in ROOTS]
        self.component = {row[0]: row[1] for row in self.facts["ComponentType"]}
        self.declarer = {
            "method": {row[0]: row[3] for row in self.facts["Method"]},
            "field": {row[0]: row[1] for row in self.facts["Field"]},
        }
        self.classes = {t for name in ("ClassType", "InterfaceType") for (t,) in self.facts[name]}
        self.var_method = {row[0]: row[1] for row in self.facts["Var-DeclaringMethod"]}
        self.heap_method = {row[2]: row[4] for row in self.facts["AssignHeapAllocation"]}

    def class_of(self, kind: str, value: str) -> str:
        """The class that a type, method or field belongs to; an array belongs to the class of its elements."""
        value = value if kind == "type" else self.declarer[kind][value]
        while value in self.component:
            value = self.component[value]
        return value

    def owner(self, name: str, row: tuple[str, ...]) -> str | None:
        """The class whose code or declaration the row is part of."""
        if name in OWNER:
            return self.class_of("method", row[OWNER[name]])
        if name == "Var-Type":
            return self.class_of("method", self.var_method[row[0]])
        if name == "NormalHeap":
            return self.class_of("method", self.heap_method[row[0]])
        return self.class_of("type", row[1]) if name == "Field" else None

    def neighbours(self) -> dict[str, dict[str, None]]:
        """The classes that each class mentions, in the order of the facts."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for name, columns in (MENTIONS | DECLARATIONS).items():
            for row in self.facts[name]:
                owner = self.owner(name, row)
                if owner is not None:
                    found[owner].update(dict.fromkeys(self.class_of(kind, row[c]) for c, kind in columns.items()))
        return found

    def keep(self, count: int) -> set[str]:
        """At least `count` classes, breadth first, closed under supertypes."""
        above: dict[str, list[str]] = defaultdict(list)
        for name in ("DirectSuperclass", "DirectSuperinterface"):
            for t, super_type in self.facts[name]:
                above[t].append(super_type)
        neighbours = self.neighbours()
        queue = deque([row[0] for row in self.facts["MainClass"]] + self.roots)
        kept: set[str] = set()
        while queue and len(kept) < count:
            close = [queue.popleft()]
            while close:
                t = close.pop()
                if t in self.classes and t not in kept:
                    kept.add(t)
                    close += above[t]
                    queue += neighbours[t]
        return kept

    def cut(self, kept: set[str]) -> dict[str, Rows]:
        primitive = {t for row in self.facts["ComponentType"] for t in row} - self.classes - set(self.component)
        allowed = kept | primitive
        lost = {row[0] for row in self.facts["NormalHeap"] if self.class_of("type", row[1]) not in allowed}
        result: dict[str, Rows] = {}
        for name, rows in self.facts.items():
            columns = MENTIONS.get(name, {})
            result[name] = [
                row
                for row in rows
                if self.owner(name, row) in allowed | {None}
                and all(self.class_of(kind, row[c]) in allowed for c, kind in columns.items())
            ]
        result["AssignHeapAllocation"] = [row for row in result["AssignHeapAllocation"] if row[2] not in lost]
        return drop_dangling(result)


def read_rows(path: Path) -> Rows:
    return [tuple(line.split("\t")) for line in path.read_text().splitlines()]


def drop_dangling(facts: dict[str, Rows]) -> dict[str, Rows]:
    """Without arguments and results of calls that are gone, and without objects that nothing allocates."""
    calls = {row[0] for kind in ("Virtual", "Special", "Static") for row in facts[f"{kind}MethodInvocation"]}
    heaps = {row[2] for row in facts["AssignHeapAllocation"]}
    facts["ActualParam"] = [row for row in facts["ActualParam"] if row[1] in calls]
    facts["AssignReturnValue"] = [row for row in facts["AssignReturnValue"] if row[0] in calls]
    facts["NormalHeap"] = [row for row in facts["NormalHeap"] if row[0] in heaps]
    facts["StringConstant"] = [row for row in facts["StringConstant"] if row[0] in heaps]
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--classes", type=int, default=200)
    options = parser.parse_args()
    cutter = Cutter(options.facts)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in cutter.cut(cutter.keep(options.classes)).items():
        (options.out / f"{name}.facts").write_text("".join("\t".join(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()

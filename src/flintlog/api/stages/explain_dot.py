"""A program of the IR as a graph in Graphviz' language: `dot -Tsvg`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from flintlog.ir.nodes import Aggregate, FlatMap, JoinFlatMap, Node, Scan, Shared, children
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.ir.text.node_printer import print_head, print_step


def dot_of(program: Program) -> str:
    """A box for each relation, a cluster for each stratum, and the trees of the rules between them. Rows flow along the
    arrows."""
    return "\n".join(_Graph(program).lines()) + "\n"


class _Graph:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.relations = {name: f"r{i}" for i, name in enumerate(program.relations)}
        self.numbers = count()

    def lines(self) -> Iterator[str]:
        yield "digraph program {"
        yield '  rankdir=BT; node [shape=box, fontname="monospace", fontsize=10]; edge [fontsize=9];'
        homes = {name for stratum in self.program.strata for name in stratum.relations}
        for name in self.program.relations:
            if name not in homes:
                yield f"  {self._relation(name)}"
        for i, stratum in enumerate(self.program.strata):
            yield from self._stratum(i, stratum)
        for id, subplan in self.program.shared.items():
            yield f"  s{id} [label={quoted(f'shared {id}')}, style=dashed];"
            yield from self._tree(subplan, f"s{id}", "  ", "")
        yield "}"

    def _relation(self, name: str) -> str:
        kinds = {d.kind for d in self.program.io if d.relation == name}
        colour = "lightblue" if "input" in kinds else "palegreen" if kinds else "white"
        return f"{self.relations[name]} [label={quoted(name)}, style=filled, fillcolor={colour}];"

    def _stratum(self, number: int, stratum: Stratum) -> Iterator[str]:
        kind = "recursive" if stratum.recursive else "once"
        yield f"  subgraph cluster{number} {{"
        yield f"    label={quoted(f'stratum {number}, {kind}')};"
        for name in stratum.relations:
            yield f"    {self._relation(name)}"
        rules: list[Rule | Subsumption] = [*stratum.rules, *stratum.subsumptions]
        for rule in rules:
            word = "rule" if isinstance(rule, Rule) else "subsume"
            yield from self._tree(rule.body, self.relations[rule.relation], "    ", f"{word} {rule.id}")
        yield "  }"

    def _tree(self, node: Node, above: str, indent: str, label: str) -> Iterator[str]:
        match node:
            case Shared(id):
                yield f"{indent}s{id} -> {above} [label={quoted(label)}, style=dashed];"
                return
            case Scan(relation) if relation in self.relations:
                name = f"n{next(self.numbers)}"
                yield f"{indent}{name} [label={quoted(print_head(node))}, style=rounded];"
                yield f"{indent}{self.relations[relation]} -> {name} [style=dotted];"
            case _:
                name = f"n{next(self.numbers)}"
                steps = node.steps if isinstance(node, FlatMap | JoinFlatMap) else ()
                yield f"{indent}{name} [label={quoted(print_head(node), *map(print_step, steps))}];"
        yield f"{indent}{name} -> {above} [label={quoted(label)}];"
        for i, child in enumerate(children(node)):
            yield from self._tree(child, name, indent, "keys" if isinstance(node, Aggregate) and i else "")


def quoted(*lines: str) -> str:
    r"""Lines as one text in Graphviz' quotes, each flush left if there are several.

    >>> print(quoted('a "b"'), quoted("a", "b"))
    "a \"b\"" "a\lb\l"
    """
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return f'"{escaped[0]}"' if len(escaped) == 1 else '"' + "".join(f"{line}\\l" for line in escaped) + '"'

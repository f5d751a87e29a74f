"""Leaves out what no result needs.

Requires nothing. Establishes: every relation is wanted, or some rule on the way to a wanted one reads it; no rule reads
a relation that is empty whatever the facts are.

Half of it is no matter of speed: a program may not even end if what counts upwards for ever is computed where nobody
looks, and an input that nobody needs may have no facts. So `needed_only` is part of what running a program means, and
happens also where the pass is switched off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from flintlog.ir.nodes import Aggregate, AntiJoin, ConcatAll, Node, Scan, Shared, children
from flintlog.ir.program import Program, Rule
from flintlog.ir.visit import relations_of
from flintlog.passes.context import PassContext


def remove_unneeded(program: Program, context: PassContext) -> Program:
    """The program without rules that can have no rows, and then without relations, rules and directives that the wanted
    relations do not depend on.

    >>> from flintlog.ir.text import parse_program, print_program
    >>> program = parse_program('''
    ...     relation edge(x: number)
    ...     relation path(x: number)
    ...     relation other(x: number)
    ...     relation never(x: number)
    ...     input edge
    ...     input other
    ...     output path
    ...     stratum edge
    ...     stratum other
    ...     stratum path
    ...       rule 1 path
    ...         scan edge(x: number)
    ...       rule 2 path
    ...         join [x] (x)
    ...           scan other(x: number)
    ...           scan never(x: number)
    ... ''')
    >>> print(print_program(remove_unneeded(program, PassContext(frozenset({"path"})))))
    relation edge(x: number)
    relation path(x: number)
    <BLANKLINE>
    input edge
    output path
    <BLANKLINE>
    stratum edge
    <BLANKLINE>
    stratum path
      rule 1 path
        scan edge(x: number)
    <BLANKLINE>
    """
    return needed_only(_without_dead_rules(program, context.held), context.wanted)


def needed_only(program: Program, wanted: Collection[str]) -> Program:
    """The program without relations, rules and directives that the wanted relations do not depend on."""
    needed = _needed(program, wanted)
    if len(needed) == len(program.relations):
        return program
    strata = [
        replace(
            stratum,
            relations=tuple(name for name in stratum.relations if name in needed),
            rules=tuple(rule for rule in stratum.rules if rule.relation in needed),
            subsumptions=tuple(s for s in stratum.subsumptions if s.relation in needed),
        )
        for stratum in program.strata
    ]
    return replace(
        program,
        relations={name: relation for name, relation in program.relations.items() if name in needed},
        strata=tuple(stratum for stratum in strata if stratum.relations),
        io=tuple(directive for directive in program.io if directive.relation in needed),
    )


def _needed(program: Program, wanted: Collection[str]) -> set[str]:
    reads: dict[str, set[str]] = {name: set() for name in program.relations}
    for stratum in program.strata:
        for rule in stratum.rules:
            reads[rule.relation] |= relations_of(rule.body, program.shared)
        for subsumption in stratum.subsumptions:
            reads[subsumption.relation] |= relations_of(subsumption.body, program.shared)
    for name, relation in program.relations.items():
        if relation.delta_of is not None:
            reads[name].add(relation.delta_of)
    needed: set[str] = set()
    waiting = [name for name in wanted if name in reads]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += reads[name]
    return needed


def _without_dead_rules(program: Program, held: Collection[str]) -> Program:
    """Without rules that read a relation which has neither rules nor an input, until no more of them are found. Those
    of held relations stay: even a constant in them shows, as the number of a symbol."""
    filled = set(program.inputs)
    filled |= {name for name, relation in program.relations.items() if relation.delta_of is not None}
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    while True:
        present = filled | {rule.relation for rule in rules}
        alive = [rule for rule in rules if rule.relation in held or all(name in present for name in _required(rule))]
        if len(alive) == len(rules):
            break
        rules = alive
    ids = {rule.id for rule in rules}
    if all(rule.id in ids for stratum in program.strata for rule in stratum.rules):
        return program
    strata = [replace(s, rules=tuple(rule for rule in s.rules if rule.id in ids)) for s in program.strata]
    return replace(program, strata=tuple(strata))


def _required(rule: Rule) -> Iterator[str]:
    """The relations that need a row for the rule to have one."""

    def walk(node: Node) -> Iterator[str]:
        match node:
            case Scan():
                yield node.relation
            case AntiJoin():
                yield from walk(node.left)
            case Aggregate() | ConcatAll() | Shared():
                pass
            case _:
                for child in children(node):
                    yield from walk(child)

    return walk(rule.body)

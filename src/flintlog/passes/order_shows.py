"""Where the order in which rows come can be seen in a result.

Rows are sets, and passes may change in which order they come. A few things in the language see it all the same: a
counter numbers rows as they come, a choice keeps the first, a user's fold may depend on it, and the numbers of symbols
and records, which `ord` and `as` show, are given out at first sight.
"""

from __future__ import annotations

from collections.abc import Iterator

from flintlog.ir.nodes import Aggregate, Node
from flintlog.ir.program import Program, Rule, Subsumption
from flintlog.ir.scalar import Call, Counter, Reinterpret, Round, Scalar, UserCall
from flintlog.ir.visit import node_terms, relations_of, walk, walk_scalar


def relations_whose_order_shows(program: Program) -> frozenset[str]:
    """The relations whose rules have to stay as they are: those where the order of rows shows, and all they depend on.

    >>> from flintlog.ir.text import parse_program
    >>> program = parse_program('''
    ...     relation a(x: number)
    ...     relation b(x: number)
    ...     relation numbered(x: number, id: number)
    ...     input a
    ...     stratum a
    ...     stratum b
    ...       rule 1 b
    ...         scan a(x: number)
    ...     stratum numbered
    ...       rule 2 numbered
    ...         map (x, id = autoinc())
    ...           scan a(x: number)
    ... ''')
    >>> sorted(relations_whose_order_shows(program))
    ['a', 'numbered']
    """
    if any(relation.choice for relation in program.relations.values()) or _shows_numbers(program):
        return frozenset(program.relations)
    reads: dict[str, set[str]] = {name: set() for name in program.relations}
    waiting: list[str] = []
    for rule in _rules(program):
        reads[rule.relation] |= relations_of(rule.body, program.shared)
        if any(_counts(node, program) for node in walk(rule.body)):
            waiting.append(rule.relation)
    together = {name: stratum.relations for stratum in program.strata for name in stratum.relations}
    held: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in held:
            held.add(name)
            # Relations of one stratum are computed in the same rounds.
            waiting += [*reads[name], *together.get(name, ())]
    return frozenset(held)


def is_pure(node: Node, program: Program) -> bool:
    """Whether a tree has the same rows whenever, and however often, it is computed."""
    return not any(_counts(part, program) or _depends_on_round(part) for part in walk(node))


def _rules(program: Program) -> Iterator[Rule | Subsumption]:
    for stratum in program.strata:
        yield from stratum.rules
        yield from stratum.subsumptions


def _counts(node: Node, program: Program) -> bool:
    if isinstance(node, Aggregate) and node.fold.op.startswith("@"):
        return True
    return any(
        isinstance(scalar, Counter) or (isinstance(scalar, UserCall) and program.functions[scalar.name].stateful)
        for scalar in _scalars(node)
    )


def _depends_on_round(node: Node) -> bool:
    return any(isinstance(scalar, Round) for scalar in _scalars(node))


def _shows_numbers(program: Program) -> bool:
    return any(_shows_number(s) for rule in _rules(program) for node in walk(rule.body) for s in _scalars(node))


def _shows_number(scalar: Scalar) -> bool:
    match scalar:
        case Call("ord", (arg,), _):
            return not arg.kind.is_numeric
        case Reinterpret(arg, kind):
            return arg.kind is not kind and not (arg.kind.is_numeric and kind.is_numeric)
        case _:
            return False


def _scalars(node: Node) -> Iterator[Scalar]:
    for term in node_terms(node):
        yield from walk_scalar(term)

"""Plans the joins of every rule by their structure, without statistics (FlowLog, section 5).

Requires nothing. Establishes: the joins of a rule follow the best of its rooted join spanning trees, whatever order it
was written in; filters, semijoins and antijoins stand as low as they can; a cross product is there only where no join
would do. Rules with a plan of the user's own stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from flintlog.ir.nodes import Aggregate, ConcatAll, Node, children
from flintlog.ir.program import Program, Rule, Stratum
from flintlog.ir.visit import with_children
from flintlog.passes.context import PassContext
from flintlog.passes.order_shows import is_pure
from flintlog.passes.structural.conjunction import Absent, Atom, Conjunction, FloatJoin, Literal, conjunction_of
from flintlog.passes.structural.segment import plan_segments
from flintlog.passes.structural.tree import build_segment


def structural(program: Program, context: PassContext) -> Program:
    """The program with the joins of its rules planned.

    Nodes that reach `1` by an even number of steps (FlowLog's figure 3): the two edges are never joined with each
    other, and no join sees more than two variables.

    >>> from flintlog.ir.text import parse_program
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation reach(x: number)
    ...     input edge
    ...     stratum edge
    ...     stratum recursive reach
    ...       rule 1 reach
    ...         join [z] (x)
    ...           join [y] (x, z)
    ...             scan edge(x: number, y: number)
    ...             scan edge(y: number, z: number)
    ...           scan reach(z: number)
    ... ''')
    >>> planned = structural(program, PassContext(frozenset({"reach"})))
    >>> from flintlog.ir.text.node_printer import print_node
    >>> print(print_node(planned.strata[1].rules[0].body))
    join [y] (x)
      scan edge(x: number, y: number)
      join [z] (y)
        scan edge(y: number, z: number)
        scan reach(z: number)
    """
    strata = tuple(_plan_stratum(stratum, program, context) for stratum in program.strata)
    if all(new is old for new, old in zip(strata, program.strata, strict=True)):
        return program
    return replace(program, strata=strata)


def _plan_stratum(stratum: Stratum, program: Program, context: PassContext) -> Stratum:
    own = frozenset(stratum.relations)
    rules = tuple(_plan_rule(rule, own, program, context) for rule in stratum.rules)
    if all(new is old for new, old in zip(rules, stratum.rules, strict=True)):
        return stratum
    return replace(stratum, rules=rules)


def _plan_rule(rule: Rule, own: frozenset[str], program: Program, context: PassContext) -> Rule:
    if rule.plan or rule.relation in context.held or not is_pure(rule.body, program):
        return rule
    body = plan_body(rule.body, own)
    return rule if body is rule.body else replace(rule, body=body)


def plan_body(node: Node, own: frozenset[str]) -> Node:
    """The tree planned, and so the trees inside it that are conjunctions of their own: those of aggregates, unions and
    negations. The same object if it has been planned already. `own` are the relations of the rule's stratum."""
    try:
        conjunction = conjunction_of(node)
    except FloatJoin:
        return node
    literals = tuple(_plan_inside(literal, own) for literal in conjunction.literals)
    same = all(new is old for new, old in zip(literals, conjunction.literals, strict=True))
    if same and len(conjunction.atoms) < 2:
        return node
    try:
        planned = plan_segments(
            Conjunction(literals, conjunction.output), lambda segment, output: build_segment(segment, output, own)
        )
    except FloatJoin:
        return node
    return node if planned == node else planned


def _plan_inside(literal: Literal, own: frozenset[str]) -> Literal:
    match literal:
        case Atom(Aggregate() | ConcatAll() as source, variables):
            planned = with_children(source, tuple(plan_body(child, own) for child in children(source)))
            return literal if planned is source else Atom(planned, variables)
        case Absent(source, on, variables):
            planned = plan_body(source, own)
            return literal if planned is source else Absent(planned, on, variables)
        case _:
            return literal

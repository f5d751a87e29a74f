"""Leaves out a rule that another rule of the same relation repeats in other words.

Requires nothing; works best on fused trees. Establishes: no two rules of a relation have trees that are the same but
for the names of columns and the sides of joins, unless the user pinned the order of both.
"""

from __future__ import annotations

from flintlog.ir.program import Program, Rule
from flintlog.passes.canonical import Classes
from flintlog.passes.context import PassContext
from flintlog.passes.free_rules import rewrite_free_rules
from flintlog.passes.order_shows import is_pure


def duplicate_rules(program: Program, context: PassContext) -> Program:
    """The program without rules that say again what another rule says.

    >>> from flintlog.ir.text import parse_program
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation linked(x: number, y: number)
    ...     input edge
    ...     stratum edge
    ...     stratum linked
    ...       rule 1 linked
    ...         map (x = b, y = a)
    ...           scan edge(a: number, b: number)
    ...       rule 2 linked
    ...         map (x = to, y = from)
    ...           scan edge(from: number, to: number)
    ... ''')
    >>> [rule.id for rule in duplicate_rules(program, PassContext(frozenset())).strata[1].rules]
    [1]
    """
    classes = Classes()
    rules = [rule for stratum in program.strata for rule in stratum.rules]
    said = {_saying(rule, classes) for rule in rules if rule.plan}

    def first(rule: Rule) -> Rule | None:
        # Values that merge may be combined as often as they come: that this changes nothing is for the user to know.
        if rule.plan or program.relations[rule.relation].merge or not is_pure(rule.body, program):
            return rule
        saying = _saying(rule, classes)
        if saying in said:
            return None
        said.add(saying)
        return rule

    return rewrite_free_rules(program, context, first)


def _saying(rule: Rule, classes: Classes) -> tuple[object, ...]:
    form = classes.form(rule.body)
    return rule.relation, form.number, form.places(column.name for column in rule.body.schema)

"""Sideways information passing: filters the atoms of a recursive join by each other before they are joined (FlowLog,
section 6).

Requires nothing. Establishes: a recursive rule whose join graph has a cycle joins relations that hold, as far as
semijoins can tell, no row without a partner. A breadth-first search over the join graph reduces each atom by those it
has visited; the way back reduces each by those that come after it.

Every reduced relation is a copy that has to be kept, so this is for joins whose structure does not show which order is
good: cycles of three atoms or more, two of them recursive, in which all join orders cost the same. Where one is better,
the planner takes it; a join without a cycle has an order without large results in between; where one atom changes, its
changes meet what they join with; two atoms have nothing in between; and what runs once is not worth the relations.
"""

from __future__ import annotations

from dataclasses import replace

from flintlog.ir.program import Program, Relation, Rule, Stratum
from flintlog.passes.context import PassContext
from flintlog.passes.order_shows import is_pure
from flintlog.passes.sip.reduction import Reduction, reduce_rule

# The relations that this pass makes carry it, so that it leaves alone what it has made.
QUALIFIER = "sip"


def sip(program: Program, context: PassContext) -> Program:
    """The program with semijoin reductions before its cyclic recursive joins.

    >>> from flintlog.ir.text import parse_program
    >>> program = parse_program('''
    ...     relation c(y: number, w: number, z: number)
    ...     relation p(x: number, z: number)
    ...     input c
    ...     input p
    ...     stratum c
    ...     stratum recursive p
    ...       rule 1 p
    ...         join [x, y] (x, z)
    ...           join [w] (x, y, z)
    ...             scan c(y: number, w: number, z: number)
    ...             scan p(x: number, w: number)
    ...           scan p(x: number, y: number)
    ... ''')
    >>> sip(program, PassContext(frozenset({"p"}))).strata[1].relations
    ('p', 'p$1.1', 'p$1.2', 'p$1.3', 'c$1.4')
    """
    last = max((id for stratum in program.strata for id in rule_ids(stratum)), default=0)
    relations = dict(program.relations)
    strata: list[Stratum] = []
    for stratum in program.strata:
        reductions = _reductions(stratum, program, context)
        for reduction in reductions.values():
            for relation in reduction.relations:
                relations[relation.name] = replace(relation, qualifiers=frozenset({QUALIFIER}))
        last, changed = _rewritten(stratum, reductions, last)
        strata += changed
    if len(relations) == len(program.relations):
        return program
    return replace(program, relations=relations, strata=tuple(strata))


def rule_ids(stratum: Stratum) -> list[int]:
    """The ids that a stratum's rules have."""
    return [rule.id for rule in stratum.rules] + [rule.id for rule in stratum.subsumptions]


def _reductions(stratum: Stratum, program: Program, context: PassContext) -> dict[int, Reduction]:
    if not stratum.recursive or not keeps_rounds_to_itself(stratum, program):
        return {}
    found = {}
    for rule in stratum.rules:
        if rule.plan or rule.relation in context.held:
            continue
        reduction = reduce_rule(rule, frozenset(stratum.relations), program.relations, QUALIFIER)
        if reduction is not None:
            found[rule.id] = reduction
    return found


def keeps_rounds_to_itself(stratum: Stratum, program: Program) -> bool:
    """Whether nobody can see in which round of the stratum a row comes, and no row ever goes: then rules may take a way
    over more relations, and over more rounds."""
    names = set(stratum.relations)
    if stratum.subsumptions or any(relation.delta_of in names for relation in program.relations.values()):
        return False
    plain = [_is_plain(program.relations[name]) for name in names]
    return all(plain) and all(is_pure(rule.body, program) for rule in stratum.rules)


def _is_plain(relation: Relation) -> bool:
    special = relation.choice or relation.merge or relation.limit is not None or relation.delta_of is not None
    return not special and relation.representation != "eqrel"


def _rewritten(stratum: Stratum, reductions: dict[int, Reduction], last: int) -> tuple[int, list[Stratum]]:
    """The last rule id in use and the strata in place of one: relations that do not depend on it come before it."""
    before: list[Stratum] = []
    rules: list[Rule] = []
    names = list(stratum.relations)
    for rule in stratum.rules:
        reduction = reductions.get(rule.id)
        if reduction is None:
            rules.append(rule)
            continue
        rules.append(replace(rule, body=reduction.body))
        for relation, body, grows in reduction.rules():
            last += 1
            made = Rule(last, relation, body, span=rule.span)
            if grows:
                names.append(relation)
                rules.append(made)
            else:
                before.append(Stratum((relation,), recursive=False, rules=(made,)))
    if not reductions:
        return last, [stratum]
    return last, [*before, replace(stratum, relations=tuple(names), rules=tuple(rules))]

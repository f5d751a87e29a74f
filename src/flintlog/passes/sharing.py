"""Computes once what several rules, or several places of one rule, have in common (FlowLog, section 7).

Requires nothing; finds more in fused trees. Establishes: a join or an aggregate that occurs twice, in trees that are
the same but for names, stands in `program.shared`, and `Shared` nodes stand in its places. A subplan that reads
relations of the stratum in which it is used is not shared: it grows from round to round, and each rule looks at other
rows of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from flintlog.ir.nodes import Aggregate, AntiJoin, FlatMap, JoinFlatMap, Node, Scan, SemiJoin, Shared, children
from flintlog.ir.program import Program, Rule
from flintlog.ir.scalar import Column
from flintlog.ir.visit import relations_of, walk, with_children
from flintlog.passes.canonical import Classes, Form
from flintlog.passes.context import PassContext
from flintlog.passes.free_rules import rewrite_free_rules
from flintlog.passes.fusion import fuse
from flintlog.passes.order_shows import is_pure


def sharing(program: Program, context: PassContext) -> Program:
    """The program with common subplans pointed to.

    >>> from flintlog.ir.text import parse_program, print_program
    >>> program = parse_program('''
    ...     relation e(x: number, y: number)
    ...     relation a(x: number, y: number)
    ...     relation b(x: number)
    ...     input e
    ...     stratum e
    ...     stratum a
    ...       rule 1 a
    ...         join [y] (x, z)
    ...           scan e(x: number, y: number)
    ...           scan e(y: number, z: number)
    ...     stratum b
    ...       rule 2 b
    ...         map (x = p)
    ...           join [q] (p, r)
    ...             scan e(p: number, q: number)
    ...             scan e(q: number, r: number)
    ... ''')
    >>> print("".join(print_program(sharing(program, PassContext(frozenset()))).partition("stratum a")[1:]))
    stratum a
      rule 1 a
        shared 1 (x: number, z: number)
    <BLANKLINE>
    stratum b
      rule 2 b
        map (x = p)
          shared 1 (p: number, r: number)
    <BLANKLINE>
    shared 1
      join [y] (x, z)
        scan e(x: number, y: number)
        scan e(y: number, z: number)
    <BLANKLINE>
    """
    pool = _Pool(program, context)
    changed = rewrite_free_rules(program, context, pool.pointed)
    return program if changed is program else replace(changed, shared={**program.shared, **pool.subplans})


class _Pool:
    """How often each class of trees occurs, and the subplans that stand for those that occur twice."""

    def __init__(self, program: Program, context: PassContext) -> None:
        self.program, self.classes = program, Classes()
        self.own = {name: s.relations for s in program.strata for name in s.relations}
        self.subplans: dict[int, Node] = {}
        self._last = max(program.shared, default=0)
        self._points: dict[int, tuple[int, Node, Form]] = {}
        self._counts: Counter[int] = Counter()
        for stratum in program.strata:
            for rule in stratum.rules:
                if _is_free(rule, context):
                    self._count(rule.body, frozenset(stratum.relations))

    def pointed(self, rule: Rule) -> Rule:
        """The rule with pointers for all that occurs elsewhere too."""
        if rule.plan:
            return rule
        body = self._point(rule.body, frozenset(self.own[rule.relation]))
        return rule if body is rule.body else replace(rule, body=fuse(body))

    def _count(self, node: Node, own: frozenset[str]) -> None:
        """Counts the trees that may be shared. What stands in one that has been met before is not counted again: there
        will be a pointer instead."""
        if self._pays(node, own):
            number = self.classes.form(node).number
            self._counts[number] += 1
            if self._counts[number] > 1:
                return
        for child in children(node):
            self._count(child, own)

    def _point(self, node: Node, own: frozenset[str]) -> Node:
        if self._pays(node, own):
            form = self.classes.form(node)
            if self._counts[form.number] > 1:
                return self._pointer(node, form, own)
        return with_children(node, tuple(self._point(child, own) for child in children(node)))

    def _pointer(self, node: Node, form: Form, own: frozenset[str]) -> Node:
        if form.number not in self._points:
            self._last = new = self._last + 1
            self._points[form.number] = new, node, form
            self.subplans[new] = with_children(node, tuple(self._point(child, own) for child in children(node)))
        id, first, first_form = self._points[form.number]
        here = dict(zip(first_form.names, form.names, strict=True))
        pointer = Shared(id, tuple(Column(here[column.name], column.kind) for column in first.schema))
        if pointer.schema == node.schema:
            return pointer
        return FlatMap(pointer, (), tuple((column.name, column) for column in node.schema))

    def _pays(self, node: Node, own: frozenset[str]) -> bool:
        if not isinstance(node, FlatMap | JoinFlatMap | SemiJoin | AntiJoin | Aggregate):
            return False
        worth = any(_is_work(part) for part in walk(node)) or _is_index(node)
        return worth and is_pure(node, self.program) and not own & relations_of(node, self.program.shared)


def _is_free(rule: Rule, context: PassContext) -> bool:
    return not rule.plan and rule.relation not in context.held


def _is_work(node: Node) -> bool:
    """A cross product is none: it may be much larger than what its rule makes of it."""
    return isinstance(node, SemiJoin | AntiJoin | Aggregate) or (isinstance(node, JoinFlatMap) and bool(node.on))


def _is_index(node: Node) -> bool:
    """Whether a map only puts the columns of a relation into another order, as FlowLog does for its joins. Fusion
    leaves none of these."""
    if not isinstance(node, FlatMap) or node.steps or not isinstance(node.input, Scan):
        return False
    values = [value for _, value in node.output]
    return set(values) == set(node.input.schema) and values != list(node.input.schema)

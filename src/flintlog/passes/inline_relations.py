"""Puts the rule of a relation in the place where the relation is read, and leaves the relation out.

Requires nothing. Establishes nothing: it inlines what surely costs no more in place. That is a relation with one rule,
which is not recursive, whose rows are just the bindings of that rule (no column is projected away, so that in place
nothing comes twice that came once before), and which

- only renames or reorders the columns of another relation; then it goes wherever it is read; or
- filters one relation or joins several, and is read once, by a rule that runs once.

Under a negation and in an aggregate, only what renames is inlined; a rule with a plan stays as it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from flintlog.ir.nodes import AntiJoin, FlatMap, JoinFlatMap, Node, Scan, Schema, SemiJoin, Where, children
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.program import Program, Relation, Rule, Stratum
from flintlog.ir.scalar import Column, Compare, Const
from flintlog.ir.visit import node_terms, walk, with_children
from flintlog.passes.context import PassContext
from flintlog.passes.free_rules import rewrite_free_rules
from flintlog.passes.fusion import fuse
from flintlog.passes.order_shows import is_pure
from flintlog.passes.remove_unneeded import needed_only


def inline_relations(program: Program, context: PassContext) -> Program:
    """The program without relations whose one rule can stand where they are read.

    >>> from flintlog.ir.text import parse_program, print_program
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation back(x: number, y: number)
    ...     relation pair(x: number, y: number)
    ...     input edge
    ...     stratum edge
    ...     stratum back
    ...       rule 1 back
    ...         map (x = b, y = a)
    ...           scan edge(a: number, b: number)
    ...     stratum pair
    ...       rule 2 pair
    ...         join [v] (x = u, y = w)
    ...           scan back(u: number, v: number)
    ...           scan back(v: number, w: number)
    ... ''')
    >>> print(print_program(inline_relations(program, PassContext(frozenset({"pair"})))).partition("stratum pair")[2])
    <BLANKLINE>
      rule 2 pair
        join [v] (x = u, y = w)
          scan edge(v: number, u: number)
          scan edge(w: number, v: number)
    <BLANKLINE>
    """
    inlining = _Inlining(program, context)
    changed = rewrite_free_rules(program, context, inlining.rewritten)
    return program if changed is program else needed_only(changed, context.wanted)


class _Inlining:
    """The rules that may stand in the place of their relations. Strata come in order, so a rule has been rewritten
    itself before others take it."""

    def __init__(self, program: Program, context: PassContext) -> None:
        self.program = program
        self.pinned = context.pinned(program, "no_inline", "inline-exclude") | context.wanted | context.held
        self.reads = Counter(node.relation for node in _nodes(program) if isinstance(node, Scan))
        self.strata = {rule.id: stratum for stratum in program.strata for rule in stratum.rules}
        self.rules = Counter(rule.relation for stratum in program.strata for rule in stratum.rules)
        self.outside = {directive.relation for directive in program.io} | {
            name for relation in program.relations.values() if (name := relation.delta_of) is not None
        }
        self.bodies: dict[str, Node] = {}

    def rewritten(self, rule: Rule) -> Rule:
        stratum = self.strata[rule.id]
        body = rule.body if rule.plan else self._inlined(rule.body, once=not stratum.recursive)
        if body is not rule.body:
            rule = replace(rule, body=fuse(body))
        if self._may_go(rule, stratum):
            self.bodies[rule.relation] = fuse(rule.body)
        return rule

    def _may_go(self, rule: Rule, stratum: Stratum) -> bool:
        name = rule.relation
        if stratum.recursive or stratum.subsumptions or self.rules[name] != 1 or rule.plan:
            return False
        if name in self.pinned or name in self.outside or not _is_plain(self.program.relations[name]):
            return False
        fails = any(may_fail(term) for node in walk(rule.body) for term in node_terms(node))
        return not fails and is_pure(rule.body, self.program) and _keeps_bindings(fuse(rule.body))

    def _inlined(self, node: Node, once: bool) -> Node:
        """The node with rules in the place of relations. `once`: the node is joined in a rule that runs once, not round
        by round."""
        match node:
            case Scan(name, schema) if name in self.bodies:
                body = self.bodies[name]
                if not (_is_renaming(body) or (once and self.reads[name] == 1)):
                    return node
                output = zip(schema, body.schema, strict=True)
                return FlatMap(body, (), tuple((here.name, there) for here, there in output))
            case SemiJoin() | AntiJoin():
                return with_children(node, (self._inlined(node.left, once), self._inlined(node.right, False)))
            case FlatMap() | JoinFlatMap():
                return with_children(node, tuple(self._inlined(child, once) for child in children(node)))
            case _:
                return with_children(node, tuple(self._inlined(child, False) for child in children(node)))


def _nodes(program: Program) -> Iterator[Node]:
    for stratum in program.strata:
        for body in (*(r.body for r in stratum.rules), *(s.body for s in stratum.subsumptions)):
            yield from walk(body)
    for subplan in program.shared.values():
        yield from walk(subplan)


def _is_plain(relation: Relation) -> bool:
    """Whether the relation's rows are those of its rules, neither more nor fewer."""
    special = relation.representation == "eqrel" or relation.choice or relation.merge
    return not special and relation.limit is None and relation.delta_of is None


def _is_renaming(node: Node) -> bool:
    """Whether a tree has the rows of one relation, its columns perhaps in another order."""
    return isinstance(node, Scan) or (isinstance(node, FlatMap) and isinstance(node.input, Scan) and not node.steps)


def _keeps_bindings(node: Node) -> bool:
    """Whether each row of a tree comes from just one combination of rows of the relations it reads, and every column is
    one of theirs: a computed column could not be looked up by an index."""
    match node:
        case Scan():
            return True
        case FlatMap():
            return _keeps_columns(node, node.input.schema) and _keeps_bindings(node.input)
        case JoinFlatMap() if node.on:
            sides = _keeps_bindings(node.left) and _keeps_bindings(node.right)
            return sides and _keeps_columns(node, node.joined)
        case SemiJoin() | AntiJoin():
            return _keeps_bindings(node.left)
        case _:
            return False


def _keeps_columns(node: FlatMap | JoinFlatMap, schema: Schema) -> bool:
    values = [value for _, value in node.output]
    if not all(isinstance(value, Column) and value in schema for value in values):
        return False
    if not all(isinstance(step, Where) for step in node.steps):
        return False
    fixed = {name for step in node.steps if isinstance(step, Where) for name in _fixed(step)}
    return all(column in values or column.name in fixed for column in schema)


def _fixed(step: Where) -> Iterator[str]:
    """The column that a filter leaves one value only."""
    match step.condition:
        case Compare("=", Column(name), Const()) | Compare("=", Const(), Column(name)):
            yield name

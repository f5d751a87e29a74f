"""Magic sets: computes of a relation only the rows that somebody asks for, where constants say which.

Requires: no shared subplans yet. Establishes: a relation whose readers all give arguments that constants determine has
rules that begin with its demands, and holds the demanded rows only. Each relation has one set of demanded positions,
those that all its readers determine; a relation that one of them reads as a whole is computed as a whole.

The demands are values of columns that the program has anyway, never computed ones, so that they come to an end. Where
strata would not survive, negations and aggregates get whole relations; where they still do not, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from flintlog.ir.nodes import JoinFlatMap, Node, Scan, Values
from flintlog.ir.program import Program, Relation, Rule
from flintlog.ir.visit import relations_of
from flintlog.passes.context import PassContext
from flintlog.passes.magic.calls import Call, calls_in, conjunctions_in, guard_of
from flintlog.passes.magic.regrouped_strata import reads_of, stratified
from flintlog.passes.sip.sideways import keeps_rounds_to_itself, rule_ids
from flintlog.passes.structural.conjunction import Atom, Conjunction, FloatJoin
from flintlog.passes.structural.planner import plan_body
from flintlog.passes.structural.segment import plan_segments
from flintlog.passes.structural.tree import build_segment

QUALIFIER = "magic"

# A relation of facts with more rows is no set of constants to start from.
FEW = 100

Demand = Mapping[str, tuple[int, ...]]


def magic(program: Program, context: PassContext) -> Program:
    """The program restricted to what its wanted relations ask for: here what can be reached from 1.

    >>> from flintlog.ir.text import parse_program, print_node
    >>> program = parse_program('''
    ...     relation edge(x: number, y: number)
    ...     relation path(x: number, y: number)
    ...     relation out(y: number)
    ...     input edge
    ...     output out
    ...     stratum edge
    ...     stratum recursive path
    ...       rule 1 path
    ...         scan edge(x: number, y: number)
    ...       rule 2 path
    ...         join [y] (x, z)
    ...           scan path(x: number, y: number)
    ...           scan edge(y: number, z: number)
    ...     stratum out
    ...       rule 3 out
    ...         map (y)
    ...           where (x = 1)
    ...           scan path(x: number, y: number)
    ... ''')
    >>> for stratum in magic(program, PassContext(frozenset({"out"}))).strata[1:3]:
    ...     for rule in stratum.rules:
    ...         print(f"{rule.relation}:\\n{print_node(rule.body)}")
    path$magic:
    map (x = 1)
      unit
    path:
    join [x] (x, y)
      scan edge(x: number, y: number)
      scan path$magic(x: number)
    path:
    join [y] (x, z)
      scan path(x: number, y: number)
      scan edge(y: number, z: number)
    """
    if program.shared:
        return program
    candidates = _candidates(program, context)
    try:
        for asked in (candidates, candidates - _needed_complete(program)):
            result = _restricted(program, asked)
            if result is not None:
                return result
    except FloatJoin:
        pass
    return program


def _restricted(program: Program, asked: frozenset[str]) -> Program | None:
    """The program with as many of these relations restricted as it pays for; None if it would have no strata."""
    while True:
        result = _Rewriting(program, asked).result()
        drawn_in = frozenset() if result is None else asked & _drawn_in(program, result)
        if not drawn_in:
            return result
        asked -= drawn_in


def _drawn_in(before: Program, after: Program) -> frozenset[str]:
    """The relations that took one round before, and now grow along with others that ask for their rows. What is not
    recursive is cheaper as a whole."""
    once = {name for stratum in before.strata if not stratum.recursive for name in stratum.relations}
    together = [[name for name in stratum.relations if name in before.relations] for stratum in after.strata]
    return frozenset(name for names in together if len(names) > 1 for name in names if name in once)


def _candidates(program: Program, context: PassContext) -> frozenset[str]:
    """The relations that may be restricted."""
    inputs = set(program.inputs)
    kept = inputs | context.wanted | context.held | context.pinned(program, "no_magic", "magic-transform-exclude")
    found: set[str] = set()
    for stratum in program.strata:
        if not keeps_rounds_to_itself(stratum, program):
            continue
        for name in stratum.relations:
            rules = [rule for rule in stratum.rules if rule.relation == name]
            computed = any(not isinstance(rule.body, Values) for rule in rules)
            marked = QUALIFIER in program.relations[name].qualifiers or _magic_name(name) in program.relations
            if computed and not marked and name not in kept and not any(rule.plan for rule in rules):
                found.add(name)
    return frozenset(found)


def _needed_complete(program: Program) -> frozenset[str]:
    """The relations under negations and aggregates, and all that they depend on."""
    reads: dict[str, set[str]] = {name: set() for name in program.relations}
    waiting: list[str] = []
    for stratum in program.strata:
        for rule in stratum.rules:
            found = reads_of(rule.body)
            reads[rule.relation] |= found.all
            waiting += found.complete
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += reads[name]
    return frozenset(needed)


def _magic_name(relation: str) -> str:
    return f"{relation}$magic"


@dataclass(frozen=True, eq=False)
class _Body:
    """A conjunction of a rule. Only the outermost gives the rule's rows, and only under the demand on them."""

    rule: Rule
    conjunction: Conjunction
    is_outermost: bool


class _Rewriting:
    def __init__(self, program: Program, asked: frozenset[str]) -> None:
        self.program, self.asked = program, asked
        self.rules = [rule for stratum in program.strata for rule in stratum.rules]
        inputs = set(program.inputs)
        self.seeds = frozenset(name for name in program.relations if name not in inputs and self._is_small(name))

    def _is_small(self, name: str) -> bool:
        bodies = [rule.body for rule in self.rules if rule.relation == name]
        rows = [len(body.rows) for body in bodies if isinstance(body, Values)]
        return len(rows) == len(bodies) > 0 and sum(rows) <= FEW

    def result(self) -> Program | None:
        """The rewritten program, the same one if there is nothing to restrict; None if it would have no strata."""
        bodies = [
            _Body(rule, conjunction, i == 0)
            for rule in self.rules
            for i, conjunction in enumerate(conjunctions_in(rule.body))
        ]
        demand = self._demand(bodies)
        if not demand:
            return self.program
        relations = dict(self.program.relations)
        for name, positions in demand.items():
            relations[_magic_name(name)] = _magic_relation(relations[name], positions)
        changed = frozenset(demand) | frozenset(map(_magic_name, demand))
        # Which of them end up in one stratum is not known yet, so that all of them may grow while a rule runs.
        own = changed.union(rule.relation for rule in self.rules)
        heads = {body.rule.id: body.conjunction for body in bodies if body.is_outermost}
        rules = [
            replace(rule, body=self._guarded(rule, demand[rule.relation], own))
            if rule.relation in demand and not _is_implied(heads[rule.id], rule.relation, demand[rule.relation])
            else rule
            for rule in self.rules
        ]
        rules += self._magic_rules(bodies, demand, own)
        fixed = [
            name
            for stratum in self.program.strata
            if not keeps_rounds_to_itself(stratum, self.program)
            for name in stratum.relations
        ]
        strata = stratified(self.program, relations, rules, changed, fixed)
        return None if strata is None else replace(self.program, relations=relations, strata=strata)

    # --- Demand -----------------------------------------------------------------------------------

    def _demand(self, bodies: Iterable[_Body]) -> Demand:
        """For each relation, the positions that all its readers determine. Begins with all positions and takes away
        what somebody does not determine, readers before what they read, until nothing changes."""
        demand = {
            name: tuple(range(len(self.program.relations[name].columns)))
            for name in self.asked - self._read_elsewhere()
            if self.program.relations[name].columns
        }
        bodies = list(reversed(list(bodies)))
        called: set[str] = set()
        changed = True
        while changed:
            changed = False
            for body in bodies:
                for call in self._calls(body, demand):
                    called.add(call.relation)
                    left = tuple(p for p in demand.get(call.relation, ()) if p in call.arguments)
                    if call.relation in demand and left != demand[call.relation]:
                        changed = True
                        if left:
                            demand[call.relation] = left
                        else:
                            del demand[call.relation]
            # What nobody reads is not asked for; without it, others may be asked in another order.
            for name in demand.keys() - called:
                del demand[name]
                changed = True
        return demand

    def _read_elsewhere(self) -> frozenset[str]:
        """What is read by something other than rules."""
        bodies = [s.body for stratum in self.program.strata for s in stratum.subsumptions]
        return frozenset().union(*(relations_of(body, {}) for body in bodies))

    def _calls(self, body: _Body, demand: Demand) -> list[Call]:
        return list(calls_in(body.conjunction, self._guard(body, demand), frozenset(demand), self.seeds))

    def _guard(self, body: _Body, demand: Demand) -> Atom | None:
        name = body.rule.relation
        if not body.is_outermost or name not in demand:
            return None
        return guard_of(body.conjunction, _magic_name(name), demand[name])

    # --- Rules ------------------------------------------------------------------------------------

    def _guarded(self, rule: Rule, positions: tuple[int, ...], own: frozenset[str]) -> Node:
        """The rule's rows that are demanded."""
        schema = rule.body.schema
        asked = Scan(_magic_name(rule.relation), tuple(schema[p] for p in positions))
        output = tuple((column.name, column) for column in schema)
        guarded = JoinFlatMap(asked, rule.body, tuple(column.name for column in asked.schema), (), output)
        return plan_body(guarded, own)

    def _magic_rules(self, bodies: Iterable[_Body], demand: Demand, own: frozenset[str]) -> list[Rule]:
        """What is demanded, from every call of a restricted relation."""
        last = max(id for stratum in self.program.strata for id in rule_ids(stratum))
        found: dict[tuple[str, Node], Rule] = {}
        for body in bodies:
            guard = self._guard(body, demand)
            for call in self._calls(body, demand):
                name, positions = _magic_name(call.relation), demand[call.relation]
                arguments = [call.arguments[p] for p in positions]
                if guard and guard.source == Scan(name, guard.variables) and list(guard.variables) == arguments:
                    continue  # what is asked for is asked for
                fields = self.program.relations[call.relation].columns
                output = tuple((fields[p].name, value) for p, value in zip(positions, arguments, strict=True))
                tree = plan_segments(
                    Conjunction(call.condition, output), lambda segment, output: build_segment(segment, output, own)
                )
                if (name, tree) not in found:
                    last += 1
                    found[name, tree] = Rule(last, name, tree, span=body.rule.span)
        return list(found.values())


def _is_implied(conjunction: Conjunction, relation: str, positions: tuple[int, ...]) -> bool:
    """Whether a rule's head has at these positions what a row of the relation itself has there: that is demanded."""
    head = [conjunction.output[position][1] for position in positions]
    return any(
        isinstance(atom.source, Scan)
        and atom.source.relation == relation
        and [atom.variables[position] for position in positions] == head
        for atom in conjunction.atoms
    )


def _magic_relation(relation: Relation, positions: tuple[int, ...]) -> Relation:
    return Relation(
        _magic_name(relation.name),
        tuple(relation.columns[p] for p in positions),
        tuple(relation.kinds[p] for p in positions),
        qualifiers=frozenset({QUALIFIER}),
        span=relation.span,
    )

"""A program in the form that maintenance requires: each literal of a rule reads a relation.

Aggregates, unions, constants and negated bodies become relations of their own, in strata before the stratum that reads
them. The name of such a relation is `~` and a hash of its definition, so it stays the same when other rules change. A
stratum that cannot be updated keeps its rules, and is computed again when a relation that it reads changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2s

from flintlog.engines.queries.best import Best
from flintlog.engines.queries.query import query_of, reads_inside
from flintlog.incremental.rules.best_rules import kept_by_rows
from flintlog.ir.nodes import Aggregate, AntiJoin, ConcatAll, FlatMap, JoinFlatMap, Node, Scan, SemiJoin, Values
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.program import Program, Relation, Rule, Stratum
from flintlog.ir.scalar import Counter, Round, UserCall
from flintlog.ir.shared import without_shared
from flintlog.ir.visit import node_terms, relations_of, rewrite, walk, walk_scalar
from flintlog.types import Field


@dataclass(frozen=True)
class Part:
    """A stratum and how it is updated: by its rules (which keep best values, if `best` is set), by the groups of the
    aggregate `fold`, or, for the reason in `again`, by computing it again."""

    stratum: Stratum
    fold: Aggregate | None = None
    best: Best | None = None
    again: str = ""

    @property
    def has_clauses(self) -> bool:
        return self.fold is None and not self.again

    @cached_property
    def reads(self) -> frozenset[str]:
        """The relations that the stratum reads and does not compute."""
        bodies = [rule.body for rule in self.stratum.rules] + [rule.body for rule in self.stratum.subsumptions]
        names = frozenset(name for body in bodies for name in relations_of(body, {}))
        return names - frozenset(self.stratum.relations)


@dataclass(frozen=True)
class FlattenedProgram:
    """`program` has the strata of `parts`, in their order; `constants` are the rows of relations without rules."""

    program: Program
    parts: tuple[Part, ...]
    constants: Mapping[str, Values]

    @cached_property
    def last_readers(self) -> Mapping[str, int]:
        """The number of the last part that reads each relation."""
        return {name: max(numbers) for name, numbers in self.readers.items()}

    @cached_property
    def readers(self) -> Mapping[str, list[int]]:
        """The numbers of the parts that read each relation, without the part that computes it."""
        found = defaultdict[str, list[int]](list)
        for number, part in enumerate(self.parts):
            for name in part.reads:
                found[name].append(number)
        return dict(found)

    @cached_property
    def makers(self) -> Mapping[str, int]:
        """The number of the part that computes each relation."""
        return {
            name: number for number, part in enumerate(self.parts) for name in self.computed[part.stratum.relations]
        }

    @cached_property
    def computed(self) -> Mapping[tuple[str, ...], tuple[str, ...]]:
        """The relations that each part computes: those of its stratum, and those that show their rounds."""
        shown = [(r.delta_of, r.name) for r in self.program.relations.values() if r.delta_of is not None]
        parts = [part.stratum.relations for part in self.parts]
        return {own: (*own, *(name for of, name in shown if of in own)) for own in parts}


def flatten(program: Program) -> FlattenedProgram:
    return _Builder(without_shared(program)).build()


def why_again(program: Program, stratum: Stratum, best: Best | None = None) -> str:
    """The reason why a stratum has to be computed again as a whole; empty if it can be updated."""
    for name in stratum.relations if best is None else ():
        relation = program.relations[name]
        if relation.representation == "eqrel":
            return f"{name} is an equivalence"
        if relation.choice:
            return f"{name} has a choice domain"
        if relation.merge:
            return f"an aggregate or a lattice merges rows of {name}"
        if relation.limit is not None:
            return f"{name} has a size limit"
    if stratum.subsumptions and best is None:
        return f"{stratum.subsumptions[0].relation} has subsumption"
    for other in program.relations.values():
        if other.delta_of in stratum.relations:
            return f"{other.name} shows the rounds of {other.delta_of}"
    for rule in stratum.rules:
        terms = [term for node in walk(rule.body) for term in node_terms(node)]
        if any(isinstance(scalar, Counter | Round | UserCall) for term in terms for scalar in walk_scalar(term)):
            return f"a rule of {rule.relation} uses a counter, a round or a functor in Python"
        if any(may_fail(term) for term in terms):
            return f"a rule of {rule.relation} has an operation without a value for some operands"
        if reads_inside(query_of(rule.body), stratum.relations):
            return f"a rule of {rule.relation} aggregates over its own results"
    return ""


class _Builder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.relations: dict[str, Relation] = dict(program.relations)
        self.parts: list[Part] = []
        ids = [rule.id for stratum in program.strata for rule in stratum.rules]
        ids += [rule.id for stratum in program.strata for rule in stratum.subsumptions]
        self.last_id = max(ids, default=0)
        self.constants: dict[str, Values] = {}

    def build(self) -> FlattenedProgram:
        for stratum in self.program.strata:
            if all(self.program.relations[name].delta_of is not None for name in stratum.relations):
                continue  # computed with the relations whose rounds they show
            best = kept_by_rows(self.program, stratum)
            reason = why_again(self.program, stratum, best)
            if reason:
                self.parts.append(Part(stratum, again=reason))
                continue
            rules = tuple(self._rule(rule) for rule in stratum.rules)
            self.parts.append(Part(replace(stratum, rules=rules), best=best))
        strata = tuple(part.stratum for part in self.parts)
        return FlattenedProgram(
            replace(self.program, relations=self.relations, strata=strata), tuple(self.parts), self.constants
        )

    def _rule(self, rule: Rule) -> Rule:
        body = rewrite(rule.body, self._node)
        return rule if body is rule.body else replace(rule, body=body)

    def _node(self, node: Node) -> Node:
        match node:
            case Aggregate():
                keys = None if node.keys is None else self._scanned(node.keys)
                return self._computed(replace(node, input=self._scanned(node.input), keys=keys), is_fold=True)
            case ConcatAll() | Values():
                return self._computed(node)
            case AntiJoin():
                return replace(node, right=self._projected(node.right, node.on))
            case SemiJoin():
                right = self._projected(node.right, node.on)
                output = tuple((column.name, column) for column in node.left.schema)
                return JoinFlatMap(node.left, right, node.on, (), output)
        return node

    def _scanned(self, node: Node) -> Node:
        """A scan with the node's rows, whose columns have different names."""
        return node if _is_whole(node) else self._computed(node)

    def _projected(self, node: Node, on: tuple[str, ...]) -> Node:
        """A scan with the node's columns `on`."""
        if _is_whole(node) and {column.name for column in node.schema} == set(on):
            return node
        columns = {column.name: column for column in node.schema}
        return self._computed(FlatMap(node, (), tuple((name, columns[name]) for name in on)))

    def _computed(self, node: Node, *, is_fold: bool = False) -> Scan:
        """A scan of a new relation, which has the node's rows."""
        name = f"~{blake2s(repr(node).encode(), digest_size=8).hexdigest()}"
        if name in self.relations:
            return Scan(name, node.schema)
        fields = tuple(Field(column.name, column.kind.value) for column in node.schema)
        self.relations[name] = Relation(name, fields, tuple(column.kind for column in node.schema))
        stratum = Stratum((name,), recursive=False, rules=tuple(self._rules_of(name, node)))
        self.parts.append(Part(stratum, fold=node if is_fold and isinstance(node, Aggregate) else None))
        return Scan(name, node.schema)

    def _rules_of(self, name: str, node: Node) -> Iterator[Rule]:
        if isinstance(node, Values):
            self.constants[name] = node
            return
        bodies = node.inputs if isinstance(node, ConcatAll) else (node,)
        for body in bodies:
            self.last_id += 1
            yield Rule(self.last_id, name, body)


def _is_whole(node: Node) -> bool:
    return isinstance(node, Scan) and len({column.name for column in node.schema}) == len(node.schema)

"""Whose variable is it? The scopes that aggregates open inside a clause.

A variable inside an aggregate is

- *injected* when the enclosing scope grounds it and the aggregate's target does not mention it: one variable in both
  places;
- a *witness* when the clause uses it outside of every aggregate without grounding it, and this aggregate's body grounds
  it: one variable too, which stands for the row that attains the minimum or maximum;
- *local* otherwise: a variable of its own, even if something outside has the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flintlog.check.checked import Clause, Literal, SubsumptiveClause
from flintlog.check.clauses.traverse import AGGREGATES, conjuncts, parts, walk
from flintlog.check.grounding.groundedness import AggregateNode, Groundedness
from flintlog.syntax import ast


@dataclass(frozen=True, eq=False)
class AggregateScope:
    """One aggregate and its variables, by scoped name. `parent` is the aggregate it stands in."""

    node: AggregateNode
    parent: AggregateScope | None
    injected: frozenset[str]
    witnesses: frozenset[str]
    local: frozenset[str]


@dataclass(frozen=True, eq=False)
class Scopes:
    """`keys` gives the scoped name of a variable occurrence by identity, where it differs from the written name.
    `aggregates` stand in the order of the text, outer before inner."""

    keys: Mapping[int, str]
    aggregates: tuple[AggregateScope, ...]

    def name(self, variable: ast.Variable) -> str:
        return self.keys.get(id(variable), variable.name)


_FLAT = Scopes({}, ())


def resolve_scopes(clause: Clause | SubsumptiveClause) -> Scopes:
    """The scopes of a clause; cheap for one without aggregates."""
    if not any(type(node) in AGGREGATES for node in walk(clause)):
        return _FLAT
    return _Resolver(clause).resolve()


def head_and_body(clause: Clause | SubsumptiveClause) -> tuple[ast.Atom, tuple[Literal, ...]]:
    """A subsumption's two atoms are both matched: they stand in its body too."""
    if isinstance(clause, Clause):
        return clause.head, clause.body
    return clause.dominated, (clause.dominated, clause.dominating, *clause.body)


def aggregates_of(clause: ast.Node) -> Iterator[tuple[AggregateNode, tuple[AggregateNode, ...]]]:
    """Each aggregate with the aggregates around it, outermost first."""
    waiting: list[tuple[ast.Node, tuple[AggregateNode, ...]]] = [(clause, ())]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, ast.Aggregate | ast.UserAggregate):
            yield node, around
            around = (*around, node)
        waiting.extend((part, around) for part in reversed(parts(node)))


class _Resolver:
    def __init__(self, clause: Clause | SubsumptiveClause) -> None:
        self._clause = clause
        self._head, self._body = head_and_body(clause)
        self._aggregates = list(aggregates_of(clause))
        self._keys: dict[int, str] = {}

    def resolve(self) -> Scopes:
        scopes: dict[int, AggregateScope] = {}
        loose = self._loose()
        for number, (node, around) in enumerate(self._aggregates):
            parent = scopes[id(around[-1])] if around else None
            scopes[id(node)] = self._scope(node, around, parent, loose, number)
        return Scopes(self._keys, tuple(scopes.values()))

    def _scope(
        self,
        node: AggregateNode,
        around: Sequence[AggregateNode],
        parent: AggregateScope | None,
        loose: set[str],
        number: int,
    ) -> AggregateScope:
        inside = self._names(node)
        targets = set() if node.target is None else self._names(node.target)
        injected = (inside & self._grounded_around(node, around)) - targets
        within = Groundedness(self._keys)
        within.add_literals(conjuncts(node.body))
        grounded_within = within.solve()
        witnesses = {name for name in loose & inside if name in grounded_within} - injected
        local = self._separate(node, inside - injected - witnesses, number)
        return AggregateScope(node, parent, frozenset(injected), frozenset(witnesses), frozenset(local))

    def _names(self, root: ast.Node) -> set[str]:
        return {self._keys.get(id(n), n.name) for n in walk(root) if isinstance(n, ast.Variable)}

    def _loose(self) -> set[str]:
        """Variables that the clause uses outside of its aggregates, but does not ground there."""
        rest = Groundedness(opaque={id(node): True for node, _ in self._aggregates})
        rest.add_atom(self._head, grounds=False)
        rest.add_literals(self._body)
        grounded = rest.solve()
        return {name for name in rest.variables if name not in grounded}

    def _grounded_around(self, node: AggregateNode, around: Sequence[AggregateNode]) -> set[str]:
        """What the scopes around an aggregate ground. Its own result does not count: `x = sum y : { r(x, y) }` sums
        over every x."""
        above = {id(a) for a in around}
        opaque = {id(other): other is not node for other, _ in self._aggregates if id(other) not in above}
        outer = Groundedness(self._keys, opaque)
        outer.add_atom(self._head, grounds=False)
        outer.add_literals(self._body)
        return {term for term in outer.solve() if isinstance(term, str)}

    def _separate(self, node: AggregateNode, local: set[str], number: int) -> set[str]:
        """Gives local variables whose name also occurs outside a scoped name of their own."""
        occurrences = [n for n in walk(node) if isinstance(n, ast.Variable)]
        inside = {id(n) for n in occurrences}
        outside = {
            self._keys.get(id(n), n.name)
            for n in walk(self._clause)
            if isinstance(n, ast.Variable) and id(n) not in inside
        }
        fresh = {name: f"{name}'{number}" for name in local & outside}
        for variable in occurrences:
            name = self._keys.get(id(variable), variable.name)
            if name in fresh:
                self._keys[id(variable)] = fresh[name]
        return {fresh.get(name, name) for name in local}

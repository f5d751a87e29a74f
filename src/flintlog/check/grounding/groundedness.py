"""Which terms of a set of literals have a value once the positive atoms are matched: the propagation that scopes,
grounding and witnesses share.

A term is a key: the scoped name of a variable, or the identity of any other argument node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from flintlog.check.checked import Literal, NegatedAtom
from flintlog.check.clauses.traverse import conjuncts
from flintlog.syntax import ast

Term: TypeAlias = str | int
AggregateNode: TypeAlias = ast.Aggregate | ast.UserAggregate
AnyLiteral: TypeAlias = Literal | ast.Body

_CONSTANTS = (ast.NumberLit, ast.StringLit, ast.Nil)


def folds(literal: ast.Constraint) -> list[tuple[ast.Argument, ast.Argument]] | None:
    """`[a, b] = [c, d]` (or `!=`) compares pair by pair and needs no record type: the pairs, None for anything else."""
    left, right = literal.left, literal.right
    if literal.op in ("=", "!=") and isinstance(left, ast.RecordInit) and isinstance(right, ast.RecordInit):
        if len(left.args) == len(right.args):
            return list(zip(left.args, right.args, strict=True))
    return None


class Groundedness:
    """Collects what grounds what, then answers which terms are grounded.

    `opaque` maps an aggregate's identity to whether it counts as grounded; what is inside such an aggregate is not
    looked at. `grounds` says which atoms bind their arguments (None: all of them). `variables` has the first occurrence
    of each variable, `patterns` the records and branches, but not records that are only compared field by field.
    """

    def __init__(
        self,
        keys: Mapping[int, str] | None = None,
        opaque: Mapping[int, bool] | None = None,
        grounds: Callable[[ast.Atom], bool] | None = None,
    ) -> None:
        self.grounded: set[Term] = set()
        self.variables: dict[str, ast.Variable] = {}
        self.patterns: list[ast.RecordInit | ast.BranchInit] = []
        self._keys = keys or {}
        self._opaque = opaque or {}
        self._grounds = grounds
        self._rules: list[tuple[tuple[Term, ...], Term]] = []

    def term(self, node: ast.Argument) -> Term:
        if isinstance(node, ast.Variable):
            return self._keys.get(id(node), node.name)
        return id(node)

    def add_literals(self, literals: Iterable[AnyLiteral]) -> None:
        for literal in literals:
            self.add_literal(literal)

    def add_literal(self, literal: AnyLiteral) -> None:
        if isinstance(literal, ast.Atom):
            self.add_atom(literal, self._grounds is None or self._grounds(literal))
        elif isinstance(literal, ast.Constraint):
            self._add_constraint(literal)
        elif isinstance(literal, NegatedAtom):
            self.add_atom(literal.atom, grounds=False)
        elif isinstance(literal, ast.Negation) and isinstance(literal.body, ast.Atom):
            self.add_atom(literal.body, grounds=False)

    def add_atom(self, atom: ast.Atom, grounds: bool) -> None:
        for arg in atom.args:
            if grounds:
                self.grounded.add(self.term(arg))
            self._add(arg)

    def imply(self, premises: tuple[Term, ...], conclusion: Term) -> None:
        self._rules.append((premises, conclusion))

    def solve(self) -> set[Term]:
        """The grounded terms. May be called again after more was added."""
        waiting = [rule for rule in self._rules if rule[1] not in self.grounded]
        changed = True
        while changed and waiting:
            changed = False
            still = []
            for premises, conclusion in waiting:
                if conclusion in self.grounded:
                    continue
                if all(premise in self.grounded for premise in premises):
                    self.grounded.add(conclusion)
                    changed = True
                else:
                    still.append((premises, conclusion))
            waiting = still
        return self.grounded

    def _add_constraint(self, literal: ast.Constraint) -> None:
        pairs = folds(literal)
        if pairs is not None:
            for left, right in pairs:
                self._add_constraint(ast.Constraint(literal.op, left, right, span=literal.span))
            return
        if literal.op == "=":
            left_term, right_term = self.term(literal.left), self.term(literal.right)
            self.imply((left_term,), right_term)
            self.imply((right_term,), left_term)
        self._add(literal.left)
        self._add(literal.right)

    def _add(self, node: ast.Argument) -> None:
        if isinstance(node, ast.Variable):
            self.variables.setdefault(self._keys.get(id(node), node.name), node)
        elif isinstance(node, _CONSTANTS):
            self.grounded.add(id(node))
        elif isinstance(node, ast.Aggregate | ast.UserAggregate):
            self._add_aggregate(node)
        elif isinstance(node, ast.RecordInit | ast.BranchInit | ast.Functor | ast.UserFunctor):
            self._add_compound(node, node.args)
        elif isinstance(node, ast.Cast | ast.HeadAggregate):
            self._add_compound(node, (node.arg,))

    def _add_compound(self, node: ast.Argument, args: tuple[ast.Argument, ...]) -> None:
        terms = tuple([self.term(arg) for arg in args])
        # Arithmetic and casts pass values upward only; records and branches can be taken apart as well.
        self.imply(terms, id(node))
        if isinstance(node, ast.RecordInit | ast.BranchInit):
            self.patterns.append(node)
            for part in terms:
                self.imply((id(node),), part)
        for arg in args:
            self._add(arg)

    def _add_aggregate(self, node: AggregateNode) -> None:
        if self._opaque.get(id(node), True):
            self.grounded.add(id(node))
        if id(node) not in self._opaque:
            if node.target is not None:
                self._add(node.target)
            if isinstance(node, ast.UserAggregate):
                self._add(node.init)
            self.add_literals(conjuncts(node.body))

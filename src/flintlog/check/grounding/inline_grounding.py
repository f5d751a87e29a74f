"""Grounding through inline relations: an atom of one binds what the rule that replaces it binds, and no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from flintlog.check.checked import Clause, Relation, SubsumptiveClause
from flintlog.check.clauses.traverse import walk
from flintlog.check.grounding.groundedness import Groundedness
from flintlog.check.grounding.scopes import head_and_body, resolve_scopes
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


class InlineRules:
    """The rules of inline relations, asked which of an atom's arguments they bind when others are bound already."""

    def __init__(self, clauses: Sequence[Clause], relations: Mapping[str, Relation]) -> None:
        self._names = {name for name, relation in relations.items() if relation.is_inline}
        self._rules: dict[str, list[Clause]] = defaultdict(list)
        for clause in clauses:
            if clause.head.name in self._names:
                self._rules[clause.head.name].append(clause)
        self._known: dict[tuple[str, frozenset[int]], frozenset[int]] = {}
        self._active: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._rules)

    def is_rule(self, clause: Clause | SubsumptiveClause) -> bool:
        return isinstance(clause, Clause) and clause.head.name in self._names

    def check(self, clause: Clause | SubsumptiveClause, report: Report) -> None:
        """Reports variables that stay without a value once inline atoms are replaced by their rules."""
        atoms = [n for n in walk(clause) if isinstance(n, ast.Atom) and n.name in self._rules]
        if not atoms:
            return
        ground = self._propagate(clause, frozenset())
        for atom in atoms:
            bound = frozenset(i for i, arg in enumerate(atom.args) if ground.term(arg) in ground.grounded)
            self._check_rules(atom, bound, report)
        for name, node in ground.variables.items():
            if name not in ground.grounded:
                report.error(
                    "E403",
                    f"variable `{node.name}` is not bound once inline relations are replaced by their rules",
                    node.span,
                    note=f"use `{node.name}` in an atom of a relation that is not inline, or make the rules bind it",
                    labels=[Label(self._rules[a.name][0].span, "an inline rule is here") for a in atoms[:1]],
                )

    def _check_rules(self, atom: ast.Atom, bound: frozenset[int], report: Report) -> None:
        for rule in self._rules[atom.name]:
            inside = self._propagate(rule, bound)
            # What stands for a variable of the clause is reported there.
            passed = [own for own, arg in zip(rule.head.args, atom.args, strict=True) if isinstance(arg, ast.Variable)]
            in_head = {node.name for node in walk(*passed) if isinstance(node, ast.Variable)}
            loose = [n for name, n in inside.variables.items() if name not in inside.grounded and name not in in_head]
            for node in loose:
                report.error(
                    "E403",
                    f"the rule that replaces `{atom.name}` does not bind its variable `{node.name}` here",
                    atom.span,
                    note=f"bind the arguments of `{atom.name}` in another atom, or remove the qualifier `inline`",
                    labels=[Label(node.span, "this variable")],
                )

    def _propagate(self, clause: Clause | SubsumptiveClause, bound: frozenset[int]) -> Groundedness:
        """What a clause grounds when these arguments of its head are bound from outside."""
        head, body = head_and_body(clause)
        ground = Groundedness(resolve_scopes(clause).keys, grounds=lambda atom: atom.name not in self._rules)
        ground.add_atom(head, grounds=False)
        ground.add_literals(body)
        ground.grounded |= {ground.term(head.args[i]) for i in bound if i < len(head.args)}
        atoms = [literal for literal in body if isinstance(literal, ast.Atom) and literal.name in self._rules]
        changed = True
        while changed:
            ground.solve()
            changed = False
            for atom in atoms:
                terms = [ground.term(arg) for arg in atom.args]
                before = frozenset(i for i, term in enumerate(terms) if term in ground.grounded)
                for i in self._closure(atom.name, before) - before:
                    if i < len(terms):
                        ground.grounded.add(terms[i])
                        changed = True
        return ground

    def _closure(self, name: str, bound: frozenset[int]) -> frozenset[int]:
        """The argument positions that every rule of a relation binds, given some."""
        if name in self._active:
            return bound
        known = self._known.get((name, bound))
        if known is None:
            self._active.add(name)
            results = [self._bound_head(rule, bound) for rule in self._rules[name]]
            self._active.discard(name)
            known = self._known[name, bound] = frozenset.intersection(*results)
        return known

    def _bound_head(self, rule: Clause, bound: frozenset[int]) -> frozenset[int]:
        ground = self._propagate(rule, bound)
        return bound | {i for i, arg in enumerate(rule.head.args) if ground.term(arg) in ground.grounded}

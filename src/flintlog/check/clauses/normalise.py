"""Rules as written to clauses: one head, a conjunctive body. Establishes that no argument node stands in two places."""

from __future__ import annotations

from itertools import count

from flintlog.check.checked import Clause, NegatedAtom, SubsumptiveClause
from flintlog.check.clauses.disjunction import alternatives
from flintlog.check.clauses.traverse import Rebuild
from flintlog.syntax import ast


def normalise_rule(rule: ast.Rule, origin: int) -> list[Clause]:
    """The clauses of a rule: one for each head and each alternative of its body. A fact has an empty body."""
    bodies = [()] if rule.body is None else alternatives(rule.body)
    copy = _Normalise()
    return [
        Clause(copy.atom(head), tuple([copy.literal(x) for x in body]), rule.plan, origin, span=rule.span)
        for head in rule.heads
        for body in bodies
    ]


def normalise_subsumption(rule: ast.Subsumption, origin: int) -> list[SubsumptiveClause]:
    """One clause for each alternative of the body. A `_` of the dominated atom becomes a variable of its own, for that
    atom is also what is taken away."""
    copy = _Normalise()
    naming = _NameUnnamed()
    return [
        SubsumptiveClause(
            naming.atom(rule.dominated),
            copy.atom(rule.dominating),
            tuple([copy.literal(x) for x in body]),
            rule.plan,
            origin,
            span=rule.span,
        )
        for body in alternatives(rule.body)
    ]


class _Normalise(Rebuild):
    """A copy in which the bodies of aggregates are plain conjunctions."""

    def body(self, body: ast.Body) -> ast.Body:
        # The parser refuses aggregates over alternatives; after that, the first one is as good as any.
        literals = alternatives(body)[0]
        items: list[ast.Body] = []
        for literal in literals:
            copy = self.literal(literal)
            items.append(ast.Negation(copy.atom, span=copy.span) if isinstance(copy, NegatedAtom) else copy)
        return items[0] if len(items) == 1 else ast.Conjunction(tuple(items), span=body.span)


class _NameUnnamed(_Normalise):
    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def argument(self, arg: ast.Argument) -> ast.Argument:
        if isinstance(arg, ast.Unnamed):
            # No variable of a program contains a `#`; the underscore says that it may well stand alone.
            return ast.Variable(f"_#{next(self._numbers)}", span=arg.span)
        return super().argument(arg)

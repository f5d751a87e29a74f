"""Witnesses: variables of an aggregate's body that the clause uses outside, though only that body binds them.

For min and max such a variable stands for the rows that attain the result. For count, sum and mean there are no such
rows, so it is a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flintlog.check.checked import Clause, Literal, Relation
from flintlog.check.clauses.traverse import AGGREGATES, conjuncts, walk
from flintlog.check.grounding.groundedness import AggregateNode, AnyLiteral, Groundedness, Term
from flintlog.check.grounding.scopes import AggregateScope, Scopes, resolve_scopes
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


def check_witnesses(clauses: Sequence[Clause], relations: Mapping[str, Relation], report: Report) -> None:
    """Reports witnesses of aggregates that have none, and aggregates that need each other's witnesses."""
    for clause in clauses:
        scopes = resolve_scopes(clause)
        for scope in scopes.aggregates:
            if isinstance(scope.node, ast.Aggregate) and scope.node.op not in ("min", "max"):
                _check_scope(clause, scope, scopes, report)
        if len(scopes.aggregates) > 1:
            _check_mutual(clause, scopes, report)


def _check_scope(clause: Clause, scope: AggregateScope, scopes: Scopes, report: Report) -> None:
    assert isinstance(scope.node, ast.Aggregate)
    reported: set[str] = set()
    for literal in conjuncts(scope.node.body):
        # A witness of an aggregate further inside is that one's affair.
        for node in walk(literal, stop=AGGREGATES):
            if isinstance(node, ast.Variable) and scopes.name(node) in scope.witnesses - reported:
                reported.add(scopes.name(node))
                outside = _outside(clause, node, scopes)
                report.error(
                    "E404",
                    f"`{node.name}` is bound by a {scope.node.op} only, but used outside of it",
                    node.span,
                    note=f"bind `{node.name}` in an atom of the clause to group by it; only min and max can tell"
                    " which rows gave their result",
                    labels=[Label(outside.span, "used here")] if outside is not None else [],
                )


def _outside(clause: Clause, variable: ast.Variable, scopes: Scopes) -> ast.Variable | None:
    for node in walk(clause, stop=AGGREGATES):
        if isinstance(node, ast.Variable) and scopes.name(node) == scopes.name(variable):
            return node
    return None


def _check_mutual(clause: Clause, scopes: Scopes, report: Report) -> None:
    literals = [literal for literal in _literals((clause.head, *clause.body)) if _aggregates(literal)]
    told: list[AggregateNode] = []
    for scope in scopes.aggregates:
        if any(scope.node is node for node in told):
            continue
        mine = [literal for literal in literals if any(a is scope.node for a in _aggregates(literal))]
        for other in literals:
            if _depends(mine, [other], scopes) and _depends([other], mine, scopes):
                report.error(
                    "E405",
                    "two aggregates need values from each other",
                    scope.node.span,
                    note="compute one of them in a relation of its own first",
                    labels=[Label(other.span, "the other one")],
                )
                told += _aggregates(other)
                break


def _literals(roots: Sequence[AnyLiteral]) -> Iterator[Literal | ast.Body]:
    """The literals, and those inside their aggregates."""
    for root in roots:
        yield root
        for node in walk(root):
            if isinstance(node, ast.Aggregate | ast.UserAggregate):
                yield from conjuncts(node.body)


def _aggregates(literal: AnyLiteral) -> list[AggregateNode]:
    return [node for node in walk(literal) if isinstance(node, ast.Aggregate | ast.UserAggregate)]


def _depends(needy: Sequence[AnyLiteral], giving: Sequence[AnyLiteral], scopes: Scopes) -> bool:
    """Whether some literals have a variable that they do not ground, but others do."""
    needs, needs_grounded = _ground(needy, scopes)
    gives, gives_grounded = _ground(giving, scopes)
    return any(name not in needs_grounded and name in gives_grounded for name in needs if name in gives)


def _ground(literals: Sequence[AnyLiteral], scopes: Scopes) -> tuple[set[str], set[Term]]:
    ground = Groundedness(scopes.keys)
    ground.add_literals(literals)
    return set(ground.variables), ground.solve()

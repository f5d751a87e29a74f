"""Does every variable get a value? Reports those that no positive atom, equality or aggregate binds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flintlog.check.checked import Clause, NegatedAtom, Relation, SubsumptiveClause
from flintlog.check.clauses.traverse import AGGREGATES, parts, walk
from flintlog.check.grounding.groundedness import Groundedness
from flintlog.check.grounding.inline_grounding import InlineRules
from flintlog.check.grounding.scopes import Scopes, head_and_body, resolve_scopes
from flintlog.diagnostics import Report
from flintlog.syntax import ast


def check_grounding(
    clauses: Sequence[Clause],
    subsumptions: Sequence[SubsumptiveClause],
    relations: Mapping[str, Relation],
    report: Report,
    *,
    check_inline: bool = True,
) -> None:
    """One error for each variable of each clause, at its first place.

    The head of an inline relation's rule counts as bound: that the places it is inlined to do bind it is checked there,
    if `check_inline` says that nothing is wrong with the inlining itself.
    """
    inline = InlineRules(clauses, relations)
    everything: list[Clause | SubsumptiveClause] = [*clauses, *subsumptions]
    for clause in everything:
        if isinstance(clause, Clause) and _is_fact(clause):
            continue
        is_bound = _check(clause, relations, report)
        if is_bound and check_inline and inline and not inline.is_rule(clause):
            inline.check(clause, report)


def _is_fact(clause: Clause) -> bool:
    """A rule without a body; with an aggregate or a generator in its head it needs none and is a rule all the same."""
    if clause.body:
        return False
    return not any(
        type(node) in AGGREGATES or (isinstance(node, ast.Functor) and node.op == "range") for node in walk(clause.head)
    )


def _check(clause: Clause | SubsumptiveClause, relations: Mapping[str, Relation], report: Report) -> bool:
    """Whether every variable is bound; reports those that are not."""
    head, body = head_and_body(clause)
    scopes = resolve_scopes(clause)
    ground = Groundedness(scopes.keys)
    relation = relations.get(head.name)
    ground.add_atom(head, grounds=relation is not None and relation.is_inline)
    ground.add_literals(body)
    grounded = ground.solve()
    loose = {name: node for name, node in ground.variables.items() if name not in grounded}
    for name, node in _unhelped(loose, ground).items():
        first = min(_occurrences(clause, name, scopes), key=lambda n: n.span.start, default=node)
        report.error(
            "E401",
            f"variable `{node.name}` is not bound",
            first.span,
            note=_reason(clause, name, node.name, scopes),
        )
    # A record with `_` is a pattern: something bound must be matched with it.
    for pattern in ground.patterns if not loose else ():
        if id(pattern) not in grounded:
            what = "record" if isinstance(pattern, ast.RecordInit) else "branch"
            report.error(
                "E402",
                f"this {what} has no value: it contains `_`, and nothing that is bound is matched with it",
                pattern.span,
                note="replace `_` by a bound variable, or match the pattern with a column or a bound variable",
            )
    return not loose


def _unhelped(loose: dict[str, ast.Variable], ground: Groundedness) -> dict[str, ast.Variable]:
    """Of the variables without a value, those that would still have none if the others had one."""
    kept = dict(loose)
    known = frozenset(ground.grounded)
    # The later a variable stands, the nearer it is to what is wrong: heads and results come first in the text.
    for name in sorted(loose, key=lambda n: loose[n].span.start):
        ground.grounded = set(known) | (set(kept) - {name})
        if name in ground.solve():
            del kept[name]
    ground.grounded = set(known)
    return kept


def _occurrences(root: ast.Node, name: str, scopes: Scopes) -> list[ast.Variable]:
    return [node for node in walk(root) if isinstance(node, ast.Variable) and scopes.name(node) == name]


def _reason(clause: Clause | SubsumptiveClause, name: str, shown: str, scopes: Scopes) -> str:
    """Why the places where a variable stands do not bind it, and what would."""
    if shown.lower() == "nil":
        return "did you mean `nil`?"
    _, body = head_and_body(clause)
    negated = any(isinstance(part, NegatedAtom) and _occurrences(part, name, scopes) for part in body)
    mended = f"use `{shown}` in an atom of the body that is not negated, or set it equal to something bound"
    for node in walk(clause):
        for below in parts(node):
            if not (isinstance(below, ast.Variable) and scopes.name(below) == name):
                continue
            if isinstance(node, ast.Functor | ast.UserFunctor):
                return f"computing with `{shown}` does not find its value; {mended}"
            if isinstance(node, ast.Cast):
                return f"a cast does not bind what it is applied to; {mended}"
    if negated:
        return f"a negated atom only tests values; {mended}"
    if any(_occurrences(part, name, scopes) for part in body):
        return mended
    return f"`{shown}` occurs in the head only; {mended}"

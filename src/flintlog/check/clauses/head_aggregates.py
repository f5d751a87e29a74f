"""FlowLog's aggregates in heads: `cost(x, MIN(c)) :- ….`

All rules of a relation that aggregate have to agree in the places and functions. The columns without an aggregate are
the groups. A rule without aggregates, a fact or an input row beside them gives a value that takes part as it is: with
`cc(x, MIN(i)) :- …` and `cc(x, x) :- …`, the smallest of all i and x counts. That makes sense for MIN and MAX only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from flintlog.check.checked import Clause, Relation, SubsumptiveClause
from flintlog.check.clauses.traverse import walk
from flintlog.diagnostics import Label, Report
from flintlog.source import Span
from flintlog.syntax import ast

_Pattern: TypeAlias = tuple[str | None, ...]


def check_head_aggregates(
    relations: Mapping[str, Relation],
    clauses: Sequence[Clause],
    subsumptions: Iterable[SubsumptiveClause],
    directives: Iterable[ast.Directive],
    report: Report,
) -> dict[str, Relation]:
    """The relations with their `head_aggregates` filled in."""
    _check_places(clauses, subsumptions, report)
    first: dict[str, Clause] = {}
    for clause in clauses:
        pattern = _pattern(clause.head)
        if not any(pattern) or clause.head.name not in relations:
            continue
        known = first.setdefault(clause.head.name, clause)
        if _pattern(known.head) != pattern:
            report.error(
                "E229",
                f"the rules of `{clause.head.name}` aggregate differently",
                clause.head.span,
                labels=[Label(known.head.span, "another rule")],
                note="use the same functions in the same places, or another relation",
            )
    result = dict(relations)
    for name, clause in first.items():
        pattern = _pattern(clause.head)
        _check_relation(relations[name], clause.head.span, report)
        if any(op not in (None, "min", "max") for op in pattern):
            _check_no_plain_rows(name, clauses, directives, report)
        if len(pattern) == len(relations[name].attributes):
            result[name] = replace(relations[name], head_aggregates=pattern)
    return result


def _pattern(head: ast.Atom) -> _Pattern:
    return tuple(arg.op if isinstance(arg, ast.HeadAggregate) else None for arg in head.args)


def _check_places(clauses: Iterable[Clause], subsumptions: Iterable[SubsumptiveClause], report: Report) -> None:
    for clause in (*clauses, *subsumptions):
        allowed = {id(arg) for arg in clause.head.args} if isinstance(clause, Clause) else set()
        for node in walk(clause):
            if isinstance(node, ast.HeadAggregate) and id(node) not in allowed:
                name = node.op.upper().replace("MEAN", "AVG")
                report.error(
                    "E228",
                    f"{name}(…) can only be an argument of a rule's head",
                    node.span,
                    note="in a body, write `min x : { … }`, `count : { … }` and so on",
                )


def _check_relation(relation: Relation, span: Span, report: Report) -> None:
    reasons = [
        (relation.is_inline, "inline"),
        (relation.representation in ("eqrel", "btree_delete"), f"a relation of kind `{relation.representation}`"),
        (bool(relation.choice_domains), "a relation with a choice-domain"),
        (any(a.lattice for a in relation.attributes), "a relation with lattice attributes"),
    ]
    for applies, what in reasons:
        if applies:
            report.error(
                "E231",
                f"`{relation.name}` is {what}, so its heads cannot aggregate",
                span,
                labels=[Label(relation.span, "declared here")],
                note="aggregate in a relation of its own",
            )


def _check_no_plain_rows(
    name: str, clauses: Iterable[Clause], directives: Iterable[ast.Directive], report: Report
) -> None:
    plain = [c.head.span for c in clauses if c.head.name == name and not any(_pattern(c.head))]
    plain += [d.span for d in directives if d.relation == name and d.kind == "input"]
    for span in plain:
        report.error(
            "E230",
            f"`{name}` counts, sums or averages, so all its rows have to come from rules that do",
            span,
            note="only MIN and MAX can take in plain values; use another relation",
        )

"""Warnings for what is written but does nothing: variables that stand alone, relations without rows or readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from flintlog.check.checked import Clause, Relation, SubsumptiveClause
from flintlog.check.clauses.content import head_name
from flintlog.check.clauses.traverse import walk
from flintlog.diagnostics import Report
from flintlog.source import Span
from flintlog.syntax import ast


def check_unused(
    relations: Mapping[str, Relation],
    clauses: Sequence[Clause | SubsumptiveClause],
    directives: Sequence[ast.Directive],
    suppressed: frozenset[str],
    report: Report,
    *,
    is_whole: bool = True,
) -> None:
    """`suppressed` names the relations for which, and for whose rules, nothing is said; `*` is all of them. Without
    `is_whole`, there may be rules and directives that are not seen here."""
    if "*" in suppressed:
        return
    rules: dict[int, list[Clause | SubsumptiveClause]] = {}
    for clause in clauses:
        if head_name(clause) not in suppressed:
            rules.setdefault(clause.origin, []).append(clause)
    # A variable without a value has been reported; that it stands alone is the same mistake.
    unbound = {diagnostic.span for diagnostic in report.errors if diagnostic.code == "E401"}
    for rule in rules.values():
        _check_variables(rule, unbound, report)
    # A relation whose name is misspelt elsewhere would seem unused.
    if is_whole and not any(diagnostic.code in ("E201", "E601") for diagnostic in report.errors):
        shown = [relation for name, relation in relations.items() if name not in suppressed]
        _check_relations(shown, clauses, directives, report)


def _check_variables(rule: Sequence[Clause | SubsumptiveClause], unbound: set[Span], report: Report) -> None:
    """`rule` holds the clauses of one source rule. A variable stands alone if no head has it and no body has it twice;
    a name that begins with `_` says that it is meant to."""
    in_heads: set[str] = set()
    once: dict[str, ast.Variable] = {}
    often: set[str] = set()
    for clause in rule:
        head = clause.head if isinstance(clause, Clause) else clause.dominated
        body = clause.body if isinstance(clause, Clause) else (clause.dominating, *clause.body)
        heads = [node for node in walk(head) if isinstance(node, ast.Variable)]
        found = [node for node in walk(*body) if isinstance(node, ast.Variable)]
        in_heads.update(node.name for node in heads)
        counts = Counter(node.name for node in found)
        often.update(name for name, times in counts.items() if times > 1)
        for node in found:
            once.setdefault(node.name, node)
        if any(node.name.startswith("_") for node in found):
            _check_marked(heads + found, report)
    for name, node in once.items():
        if name not in in_heads and name not in often and not name.startswith("_") and node.span not in unbound:
            report.warning(
                "W203",
                f"variable `{name}` occurs only once",
                node.span,
                note=f"write `_` or `_{name}` if its value does not matter",
            )


def _check_marked(variables: Iterable[ast.Variable], report: Report) -> None:
    last: dict[str, ast.Variable] = {}
    for node in variables:
        if node.name.startswith("_") and node.name in last:
            report.warning(
                "W204",
                f"variable `{node.name}` occurs more than once, though its name says otherwise",
                last[node.name].span,
                note="remove the underscore in front",
            )
        last.setdefault(node.name, node)


def _check_relations(
    relations: Iterable[Relation],
    clauses: Iterable[Clause | SubsumptiveClause],
    directives: Iterable[ast.Directive],
    report: Report,
) -> None:
    defined: set[str] = set()
    read: set[str] = set()
    for clause in clauses:
        head = clause.head if isinstance(clause, Clause) else clause.dominated
        defined.add(head.name)
        read.update(n.name for n in walk(*head.args, *clause.body) if isinstance(n, ast.Atom))
    for directive in directives:
        (defined if directive.kind == "input" else read).add(directive.relation)
    observed = {relation.delta_of for relation in relations}
    for relation in relations:
        if relation.name not in defined and relation.delta_of is None:
            report.warning(
                "W201",
                f"relation `{relation.name}` has no rules and no facts, and is not an input",
                relation.span,
                note="it is always empty; add a rule or a fact, or read it with `.input`",
            )
        if relation.name not in read and relation.name not in observed:
            report.warning(
                "W202",
                f"relation `{relation.name}` is never used",
                relation.span,
                note="no rule reads it and no directive writes it; write it with `.output`, or remove it",
            )

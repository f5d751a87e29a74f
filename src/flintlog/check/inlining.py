"""Inline relations: the places where an atom cannot be replaced by the rules of its relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flintlog.check.checked import Clause, Relation, SubsumptiveClause
from flintlog.check.clauses.content import head_name
from flintlog.check.clauses.traverse import AGGREGATES, walk
from flintlog.check.dependencies import Dependencies
from flintlog.check.names import negated_atoms
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast


def check_inlining(
    relations: Mapping[str, Relation],
    clauses: Sequence[Clause | SubsumptiveClause],
    directives: Iterable[ast.Directive],
    dependencies: Dependencies,
    report: Report,
) -> bool:
    """Reports the mistakes of inlining; whether there are none."""
    inline = {name for name, relation in relations.items() if relation.is_inline}
    if not inline:
        return True
    before = len(report.errors)
    _check_io(inline, relations, directives, report)
    _check_cycles(inline, relations, dependencies, report)
    introducing = _introducing(inline, clauses)
    for clause in clauses:
        _check_counters(clause, inline, report)
        _check_aggregates(clause, inline, report)
        for atom in negated_atoms(clause):
            if atom.name in inline:
                _check_negated(atom, introducing, report)
    return len(report.errors) == before


def _check_io(
    inline: set[str], relations: Mapping[str, Relation], directives: Iterable[ast.Directive], report: Report
) -> None:
    for directive in directives:
        if directive.relation in inline and directive.kind != "limitsize":
            report.error(
                "E250",
                f"inline relation `{directive.relation}` has no rows to read or write",
                directive.span,
                labels=[Label(relations[directive.relation].span, "declared inline here")],
                note="remove the qualifier `inline` or the directive",
            )


def _check_cycles(
    inline: set[str], relations: Mapping[str, Relation], dependencies: Dependencies, report: Report
) -> None:
    """Reports cycles that consist of inline relations only; any other relation on the way ends the replacing."""
    done: set[str] = set()
    for root in (name for name in relations if name in inline):
        trail = [root]
        rest = [iter(dependencies.reads(root))]
        while trail:
            read = next((r for r in rest[-1] if r in inline and r not in done), None)
            if read is None:
                done.add(trail.pop())
                rest.pop()
            elif read in trail:
                cycle = [*trail[trail.index(read) :], read]
                report.error(
                    "E251",
                    f"inline relations depend on one another: {' -> '.join(cycle)}",
                    relations[read].span,
                    note="remove the qualifier `inline` from one of them",
                )
                return
            else:
                trail.append(read)
                rest.append(iter(dependencies.reads(read)))


def _introducing(inline: set[str], clauses: Iterable[Clause | SubsumptiveClause]) -> set[str]:
    """The inline relations with a rule whose body has variables that its head does not have. A `range` counts as one:
    what it generates is a variable's values."""
    found = set()
    for clause in clauses:
        if isinstance(clause, Clause) and clause.head.name in inline:
            in_head = {node.name for node in walk(clause.head) if isinstance(node, ast.Variable)}
            in_body = {node.name for node in walk(*clause.body) if isinstance(node, ast.Variable)}
            generates = any(isinstance(node, ast.Functor) and node.op == "range" for node in walk(clause))
            if in_body - in_head or generates:
                found.add(clause.head.name)
    return found


def _check_counters(clause: Clause | SubsumptiveClause, inline: set[str], report: Report) -> None:
    if head_name(clause) in inline:
        nodes = walk(clause)
        where = "a rule of an inline relation"
    else:
        nodes = walk(*(n for n in walk(clause) if isinstance(n, ast.Atom) and n.name in inline))
        where = "an atom of an inline relation"
    for node in nodes:
        if isinstance(node, ast.Counter):
            report.error(
                "E252",
                f"`autoinc()` in {where}",
                node.span,
                note="inlining would repeat it; remove the qualifier `inline`",
            )


def _check_aggregates(clause: Clause | SubsumptiveClause, inline: set[str], report: Report) -> None:
    for aggregate in walk(clause):
        if isinstance(aggregate, AGGREGATES):
            for node in walk(aggregate):
                if isinstance(node, ast.Atom) and node.name in inline:
                    report.error(
                        "E255",
                        f"inline relation `{node.name}` in an aggregate",
                        node.span,
                        note=f"remove the qualifier `inline` from `{node.name}`",
                    )


def _check_negated(atom: ast.Atom, introducing: set[str], report: Report) -> None:
    if atom.name in introducing:
        report.error(
            "E254",
            f"inline relation `{atom.name}` is negated, but its rules have variables of their own",
            atom.span,
            note="there is no rule without them that says the same; remove the qualifier `inline`",
        )
    for node in walk(atom, stop=AGGREGATES):
        if isinstance(node, ast.Unnamed):
            report.error(
                "E256",
                f"`_` in a negated atom of the inline relation `{atom.name}`",
                node.span,
                note="inlining has to name it, and then it has no value; remove the qualifier `inline`",
            )

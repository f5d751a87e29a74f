"""The order of evaluation, and the cycles that leave none: negation and aggregation need complete relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flintlog.check.checked import Clause, Relation, Stratum
from flintlog.check.dependencies import Dependencies, Use
from flintlog.check.names import body_atoms
from flintlog.diagnostics import Label, Report
from flintlog.syntax import ast

_KINDS = {
    "!": (
        "E501",
        "depends on its own negation",
        "break the cycle: negate a relation that does not depend on this one",
    ),
    "aggregate": (
        "E502",
        "depends on an aggregate over itself",
        "break the cycle: aggregate over a relation that does not depend on this one",
    ),
}

# A value they have given may have to be taken back when more rows come.
_NOT_MONOTONE = ("count", "sum", "mean")


def check_stratification(dependencies: Dependencies, clauses: Iterable[Clause], report: Report) -> None:
    """Reports relations that depend on their own negation, or on an aggregate over themselves."""
    seen: set[tuple[str, str, str]] = set()
    for use in dependencies.stratifying:
        key = (use.head, use.read, use.how)
        if key in seen or not dependencies.mutual(use.head, use.read):
            continue
        seen.add(key)
        code, what, note = _KINDS[use.how]
        _report_cycle(code, f"relation `{use.head}` {what}", use, dependencies, note, report)
    for clause in clauses:
        _check_head_aggregates(clause, dependencies, report)


def _check_head_aggregates(clause: Clause, dependencies: Dependencies, report: Report) -> None:
    name = clause.head.name
    used = [arg for arg in clause.head.args if isinstance(arg, ast.HeadAggregate) and arg.op in _NOT_MONOTONE]
    if not used:
        return
    for atom in body_atoms(clause):
        if dependencies.mutual(name, atom.name):
            _report_cycle(
                "E503",
                f"relation `{name}` depends on its own {used[0].op.upper().replace('MEAN', 'AVG')}",
                Use(name, atom.name, "", atom.span),
                dependencies,
                "only MIN and MAX can be recursive; compute the aggregate in a relation that depends on this one",
                report,
            )
            return


def _report_cycle(code: str, what: str, use: Use, dependencies: Dependencies, note: str, report: Report) -> None:
    steps = [use, *dependencies.path(use.read, use.head)]
    shown = " -> ".join([use.head, *(_shown(step) for step in steps)])
    labels = [Label(step.span, f"`{step.head}` reads `{step.read}`") for step in steps[1:]]
    report.error(code, f"{what}: {shown}", use.span, labels=labels, note=note)


def _shown(use: Use) -> str:
    return {"": "", "!": "!", "aggregate": "aggregate of "}[use.how] + use.read


def strata(dependencies: Dependencies, relations: Mapping[str, Relation]) -> tuple[Stratum, ...]:
    """The relations in an order of evaluation: what a relation reads comes before it. Among the orders there are, it is
    Soufflé's, because programs can see it: in what they print and in the numbers that `autoinc()` gives. Inline
    relations are left out; a cycle through one is still a cycle."""
    groups = dependencies.groups
    by_name = sorted(relations, key=lambda name: name.split("."))
    reads = [{dependencies.group(read) for name in group for read in dependencies.reads(name)} for group in groups]
    numbered = _numbered(by_name, dependencies)
    readers: dict[int, list[int]] = {group: [] for group in numbered}
    for group in numbered:
        reads[group].discard(group)
        for read in reads[group]:
            readers[read].append(group)
    order: dict[int, None] = {}
    for start in numbered:
        if not reads[start]:
            order[start] = None
            waiting = [iter(readers[start])]
            while waiting:
                reader = next((r for r in waiting[-1] if r not in order and reads[r] <= order.keys()), None)
                if reader is None:
                    waiting.pop()
                else:
                    order[reader] = None
                    waiting.append(iter(readers[reader]))
    result = []
    for group in order:
        members = sorted(groups[group], key=lambda name: name.split("."))
        names = tuple(name for name in members if not relations[name].is_inline)
        if names:
            result.append(Stratum(names, dependencies.mutual(groups[group][0], groups[group][-1])))
    return tuple(result)


def _numbered(by_name: Iterable[str], dependencies: Dependencies) -> list[int]:
    """The groups in the order in which a depth-first search completes them: relations by name, what they read first."""
    numbered: dict[int, None] = {}
    seen: set[str] = set()
    for start in by_name:
        waiting = [] if start in seen else [(start, _reads_by_name(start, dependencies))]
        seen.add(start)
        while waiting:
            name, reads = waiting[-1]
            read = next((read for read in reads if read not in seen), None)
            if read is not None:
                seen.add(read)
                waiting.append((read, _reads_by_name(read, dependencies)))
                continue
            waiting.pop()
            group = dependencies.group(name)
            if seen.issuperset(dependencies.groups[group]):
                numbered.setdefault(group)
    return list(numbered)


def _reads_by_name(name: str, dependencies: Dependencies) -> Iterator[str]:
    return iter(sorted(dependencies.reads(name), key=lambda read: read.split(".")))

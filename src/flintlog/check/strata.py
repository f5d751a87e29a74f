"""The order of evaluation, and the cycles that leave none: negation and aggregation need complete relations."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

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
    """The relations in an order of evaluation: what a relation reads comes before it, and what is independent stays in
    the order of declaration. Inline relations are left out; a cycle through one is still a cycle."""
    position = {name: i for i, name in enumerate(relations)}
    groups = dependencies.groups
    missing = [{dependencies.group(read) for name in group for read in dependencies.reads(name)} for group in groups]
    readers: list[list[int]] = [[] for _ in groups]
    for i, needed in enumerate(missing):
        needed.discard(i)
        for group in needed:
            readers[group].append(i)
    ready = [(position[groups[i][0]], i) for i, needed in enumerate(missing) if not needed]
    heapq.heapify(ready)
    result = []
    while ready:
        _, i = heapq.heappop(ready)
        names = tuple(name for name in groups[i] if not relations[name].is_inline)
        if names:
            result.append(Stratum(names, dependencies.mutual(groups[i][0], groups[i][-1])))
        for reader in readers[i]:
            missing[reader].discard(i)
            if not missing[reader]:
                heapq.heappush(ready, (position[groups[reader][0]], reader))
    return tuple(result)

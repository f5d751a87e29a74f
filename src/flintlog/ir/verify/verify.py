"""What can be wrong with a program as a whole: its relations, and what stands in which stratum."""

from __future__ import annotations

from collections.abc import Iterator

from flintlog.diagnostics import InternalError
from flintlog.ir.nodes import Node, Shared
from flintlog.ir.program import NEW, OLD, Program, Relation, Rule, Stratum, Subsumption
from flintlog.ir.verify.node_problems import kind_problems, node_problems
from flintlog.ir.verify.scalars import scalar_problems
from flintlog.ir.visit import relations_of, walk


def verify(program: Program) -> None:
    """Raises an InternalError that names the rule and the node if an invariant of the IR is broken."""
    for problem in _problems(program):
        raise InternalError("verify", problem)


def _problems(program: Program) -> Iterator[str]:
    """All problems; an earlier one may make the search for later ones fail."""
    for name, relation in program.relations.items():
        for problem in _relation_problems(name, relation, program):
            yield f"relation {name}: {problem}"
    for directive in program.io:
        if directive.relation not in program.relations:
            yield f"{directive.kind} {directive.relation}: the relation is unknown"
    for name, function in program.functions.items():
        if function.name != name:
            yield f"function {name}: it is called {function.name}"
    yield from _shared_problems(program)
    yield from _home_problems(program)
    for index, stratum in enumerate(program.strata):
        yield from _stratum_problems(index, stratum, program)


def _relation_problems(name: str, relation: Relation, program: Program) -> Iterator[str]:
    width = len(relation.columns)
    if relation.name != name:
        yield f"it is called {relation.name}"
    if len(relation.kinds) != width:
        yield f"it has {width} columns, but {len(relation.kinds)} kinds"
    if len({column.name for column in relation.columns}) != width:
        yield "two columns have the same name"
    if relation.delta_of is not None:
        yield from _delta_problems(relation, program.relations.get(relation.delta_of))
    for domain in relation.choice:
        if not all(0 <= position < width for position in domain):
            yield f"choice domain {domain} has positions out of range"
    if relation.merge and len(relation.merge) != width:
        yield f"it has {width} columns, but {len(relation.merge)} merge expressions"
    elif relation.merge and not any(relation.merge):
        yield "it has merge expressions, but no column merges"
    for kind, merge in zip(relation.kinds, relation.merge, strict=False):
        if merge is not None:
            yield from scalar_problems(merge, {OLD: kind, NEW: kind}, program.functions)
            if merge.kind is not kind:
                yield f"a {kind.value} column merges to {merge.kind.value}"


def _delta_problems(relation: Relation, recorded: Relation | None) -> Iterator[str]:
    if recorded is None:
        yield f"it records `{relation.delta_of}`, which is unknown"
    elif relation.kinds[:-1] != recorded.kinds:
        yield f"its columns are not those of `{recorded.name}` and the number of a round"


def _shared_problems(program: Program) -> Iterator[str]:
    """Problems of shared subplans, those without shared parts first: a subplan's schema needs the ones it points to."""
    remaining = dict(program.shared)
    while remaining:
        ready = [id for id, node in remaining.items() if not _shared_ids(node) & remaining.keys()]
        if not ready:
            yield f"the shared subplans {sorted(remaining)} point to one another in a circle"
            return
        for id in ready:
            for problem in node_problems(remaining.pop(id), program):
                yield f"shared {id}, {problem}"


def _shared_ids(node: Node) -> set[int]:
    return {part.id for part in walk(node) if isinstance(part, Shared)}


# --- Strata ---------------------------------------------------------------------------------------


def _home_problems(program: Program) -> Iterator[str]:
    seen: set[str] = set()
    for index, stratum in enumerate(program.strata):
        for name in stratum.relations:
            if name not in program.relations:
                yield f"stratum {index}: relation `{name}` is unknown"
            if name in seen:
                yield f"stratum {index}: relation `{name}` has been computed already"
            seen.add(name)


def _stratum_problems(index: int, stratum: Stratum, program: Program) -> Iterator[str]:
    later = {name for after in program.strata[index + 1 :] for name in after.relations}
    for rule in stratum.rules:
        hidden = later if stratum.recursive else later.union(stratum.relations)
        for problem in _rule_problems(rule, stratum, hidden, program):
            yield f"rule {rule.id} of {rule.relation}, {problem}"
    for subsumption in stratum.subsumptions:
        # It compares the rows of its relation once they are there, so reading that is no recursion.
        for problem in _rule_problems(subsumption, stratum, later, program):
            yield f"subsumption {subsumption.id} of {subsumption.relation}, {problem}"


def _rule_problems(rule: Rule | Subsumption, stratum: Stratum, hidden: set[str], program: Program) -> Iterator[str]:
    """`hidden` are the relations the rule may not read."""
    yield from node_problems(rule.body, program)
    if rule.relation not in stratum.relations:
        yield f"it stands in the stratum of {', '.join(stratum.relations)}"
        return
    kinds = program.relations[rule.relation].kinds
    if isinstance(rule, Subsumption):
        yield from kind_problems(rule.body.schema, kinds * 2, f"two rows of `{rule.relation}`")
    else:
        yield from kind_problems(rule.body.schema, kinds, f"relation `{rule.relation}`")
    for name in sorted(relations_of(rule.body, program.shared) & hidden):
        own = name in stratum.relations
        yield f"it reads `{name}`, " + ("but the stratum is not recursive" if own else "which comes in a later stratum")

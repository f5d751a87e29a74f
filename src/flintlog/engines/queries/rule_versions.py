"""Semi-naive evaluation of trees: which rules of a stratum run once, which versions of rules run in every round, and
whether a limit ends the rounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from flintlog.ir.nodes import Aggregate, Node, Scan, children
from flintlog.ir.program import Program, Rule, Stratum
from flintlog.ir.shared import in_place
from flintlog.ir.visit import relations_of


@dataclass(frozen=True, eq=False)
class RuleVersion:
    """A rule of which the scan `delta` reads only the last round's new rows. `scans` are all scans by which the rule
    reads relations of its stratum; without any, the rule runs once, and has no delta."""

    rule: Rule
    scans: tuple[Scan, ...]
    delta: Scan | None = None


def rule_versions(stratum: Stratum) -> tuple[list[RuleVersion], list[RuleVersion]]:
    """The rules that run once, and the versions that run in every round: one for each scan of the stratum's relations,
    rule by rule."""
    rules = [RuleVersion(rule, tuple(own_scans(rule.body, stratum.relations))) for rule in stratum.rules]
    once = [version for version in rules if not version.scans]
    return once, [replace(version, delta=scan) for version in rules for scan in version.scans]


def own_scans(node: Node, own: Collection[str]) -> Iterator[Scan]:
    """The scans of the stratum's `own` relations. Not those below an Aggregate: they repeat scans that stand beside it,
    to compute its groups, and always read all rows."""
    if isinstance(node, Scan) and node.relation in own:
        yield node
    if not isinstance(node, Aggregate):
        for child in children(node):
            yield from own_scans(child, own)


def with_own_scans(program: Program, stratum: Stratum) -> Stratum:
    """The stratum with a copy of each shared subplan that reads the stratum's relations, wherever a body refers to it:
    every copy has deltas of its own."""
    own = frozenset(stratum.relations)
    grows = {id for id, subplan in program.shared.items() if own & relations_of(subplan, program.shared)}
    if not grows:
        return stratum

    def body(node: Node) -> Node:
        return in_place(node, program.shared, lambda part: part.id in grows)

    rules = tuple(replace(rule, body=body(rule.body)) for rule in stratum.rules)
    subsumptions = tuple(replace(rule, body=body(rule.body)) for rule in stratum.subsumptions)
    return replace(stratum, rules=rules, subsumptions=subsumptions)


def limit_reached(program: Program, stratum: Stratum, rows: Callable[[str], int]) -> bool:
    """Whether one of the stratum's relations has as many rows as its `.limitsize` allows. `rows` counts those of a
    relation."""
    limits = [(name, program.relations[name].limit) for name in stratum.relations]
    return any(limit is not None and rows(name) >= limit for name, limit in limits)

"""The changes that another version of a program makes in a stratum: its rules, or the kind of stratum that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.flattened_program import Part
from flintlog.incremental.strategies.rule_update import ClauseUpdate, clause_update


@dataclass
class RuleChanges:
    """Rules that a stratum loses and gains; or, in `why`, why it is computed again."""

    lost: list[ClauseUpdate] = field(default_factory=list)
    gained: list[ClauseUpdate] = field(default_factory=list)
    why: str = ""

    def any(self) -> bool:
        return bool(self.lost or self.gained or self.why)

    def reads(self) -> frozenset[str]:
        """The relations that lost rules read."""
        return frozenset(literal.relation for clause in self.lost for literal in clause.instances.clause.literals)


def changes_of(
    part: Part, before: Part | None, clauses: Sequence[ClauseUpdate], planner: Planner
) -> tuple[RuleChanges, list[ClauseUpdate]]:
    """How a part differs from `before`, the part of the same relations in the former version, which had `clauses`; and
    its clauses now: the former ones that stay, and new ones."""
    waiting = list(clauses) if before is not None and before.has_clauses else []
    changes, current = RuleChanges(), []
    for rule in part.stratum.rules if part.has_clauses else ():
        same = next((c for c in waiting if (c.rule.relation, c.rule.body) == (rule.relation, rule.body)), None)
        if same is None:
            same = clause_update(rule, part, planner)
            changes.gained.append(same)
        else:
            waiting.remove(same)
        current.append(same)
    changes.lost = waiting
    if before is None:
        why = "it is new, declared anew, or computed together with others than before"
        return RuleChanges(why=why), current
    is_other = (part.again, part.fold, part.best) != (before.again, before.fold, before.best)
    if is_other or (not part.has_clauses and _content(part) != _content(before)):
        return RuleChanges(why="its rules changed"), current
    return changes, current


def _content(part: Part) -> object:
    """The rules of a stratum without their numbers, which change when other rules come or go."""
    stratum = part.stratum
    rules = [(rule.relation, rule.body, rule.plan) for rule in stratum.rules]
    return stratum.recursive, rules, [(rule.relation, rule.body) for rule in stratum.subsumptions]

"""What a pass changed, in a few words."""

from __future__ import annotations

from flintlog.ir.program import Program, Rule, Subsumption

SHOWN = 3


def describe_change(before: Program, after: Program) -> str:
    """Relations and rules that came, went or were rewritten, and subplans that are shared now.

    >>> from flintlog.ir.text import parse_program
    >>> before = parse_program("relation a(x: number)\\nstratum a")
    >>> describe_change(before, parse_program("")), describe_change(before, before)
    ('relation a left out', 'nothing')
    """
    if after is before:
        return "nothing"
    old, new = _rules(before), _rules(after)
    gone_relations = [name for name in before.relations if name not in after.relations]
    new_relations = [name for name in after.relations if name not in before.relations]
    # Rules of relations that have gone went with them.
    gone = [id for id, rule in old.items() if id not in new and rule.relation in after.relations]
    added = [id for id, rule in new.items() if id not in old and rule.relation not in new_relations]
    rewritten = [id for id, rule in new.items() if id in old and rule != old[id]]
    parts = [
        _named(gone_relations, "relation", "left out"),
        _named(new_relations, "relation", "added"),
        _named([str(id) for id in gone], "rule", "left out"),
        _named([str(id) for id in added], "rule", "added"),
        _counted(len(rewritten), "rule", "rewritten"),
        _counted(len(after.shared) - len(before.shared), "subplan", "shared"),
    ]
    return "; ".join(part for part in parts if part) or "nothing"


def _rules(program: Program) -> dict[int, Rule | Subsumption]:
    found: dict[int, Rule | Subsumption] = {}
    for stratum in program.strata:
        found |= {rule.id: rule for rule in stratum.rules}
        found |= {subsumption.id: subsumption for subsumption in stratum.subsumptions}
    return found


def _named(names: list[str], what: str, how: str) -> str:
    if not names:
        return ""
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    return f"{what}{'s' if len(names) > 1 else ''} {listed} {how}"


def _counted(number: int, what: str, how: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''} {how}" if number > 0 else ""

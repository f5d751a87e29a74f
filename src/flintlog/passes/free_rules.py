"""The rules that passes may rewrite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flintlog.ir.program import Program, Rule
from flintlog.passes.context import PassContext


def rewrite_free_rules(program: Program, context: PassContext, change: Callable[[Rule], Rule | None]) -> Program:
    """The program with `change` applied to every rule but those of held relations; None leaves the rule out. Conditions
    of subsumption stay too: engines know the rows they compare by the place of their scans."""
    strata = []
    changed = False
    for stratum in program.strata:
        rules = []
        for rule in stratum.rules:
            new = rule if rule.relation in context.held else change(rule)
            changed |= new is not rule
            if new is not None:
                rules.append(new)
        strata.append(replace(stratum, rules=tuple(rules)) if changed else stratum)
    return replace(program, strata=tuple(strata)) if changed else program

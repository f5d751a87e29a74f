"""The orders of a rule, and the programs written in them."""

from __future__ import annotations

import pytest
from benchmarks.definition import DefinitionError
from benchmarks.robustness_rules import RULES, JoinRule, orders, spread, written_in

from flintlog.api.user_program import Program
from flintlog.ir.text import print_program


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.title)
def test_every_rule_is_there_once_and_can_be_written_in_every_order(rule: JoinRule) -> None:
    found = orders(rule.atoms)
    assert tuple(range(len(rule.atoms))) in found
    assert len(set(found)) == len(found) > 3
    for order in (found[0], found[-1]):
        text = written_in(rule, order)
        assert f"{rule.head} :- {', '.join(rule.atoms[i] for i in order)}." in text
        assert not Program(text).compilation.report.has_errors


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.title)
def test_the_optimizer_makes_the_same_of_every_order(rule: JoinRule) -> None:
    few = spread(orders(rule.atoms), 6 if rule.program == "galen" else 3)
    assert len({print_program(Program(written_in(rule, order)).optimised()) for order in few}) == 1


def test_no_order_has_a_cross_product() -> None:
    assert (0, 2, 1) not in orders(["a(x, y)", "b(y, z)", "c(z, 1, _)"])
    assert orders(["a(1, _)", "b(_, 1)"]) == []


def test_a_spread_begins_with_the_first() -> None:
    every = orders(RULES[-1].atoms)
    assert spread(every, None) == every
    assert spread(every, 3)[0] == every[0]
    assert len(spread(every, 3)) == 3


def test_a_rule_that_is_not_there() -> None:
    with pytest.raises(DefinitionError, match="0 times"):
        written_in(JoinRule("galen", "r0", "galen", "OutP(x)", ("P(x, x)", "P(x, x)")), (0, 1))

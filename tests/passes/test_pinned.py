"""`.plan` wins: no pass reorders the rule, and the embedded engine joins its atoms in the order it gives."""

from __future__ import annotations

from typing import Any

import pytest

from flintlog.api.user_program import Program
from flintlog.engines.local import fixpoint as columnar
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.local.plan import Plan, Probe, plan_query
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation, RunOptions
from flintlog.ir.program import Program as Ir
from flintlog.ir.text import print_node
from flintlog.types import Row

DECLARATIONS = """
    .decl a, b, c(x: number, y: number) .input a, b, c
    .decl r(x: number, y: number) .output r
"""
# Samples would begin at `c`, which has the fewest rows.
FACTS: dict[str, list[Row]] = {
    "a": [(i, i + 1) for i in range(5)],
    "b": [(i % 10, i) for i in range(60)],
    "c": [(12, 1), (23, 2)],
}
ONCE = "r(x, w) :- a(x, y), b(y, z), c(z, w)."
START = "r(x, y) :- a(x, y)."
LINEAR = "r(x, z) :- r(x, y), b(y, z)."
TWICE = "r(x, w) :- r(x, y), b(y, z), r(z, w)."


def orders_of(rules: str, monkeypatch: pytest.MonkeyPatch, *, reorder: bool = True) -> set[str]:
    """How rules of several atoms are run: `Δ` marks the one of which new rows are read. Checks the answer, too."""
    seen: set[str] = set()

    def watched(*arguments: Any) -> Plan:
        plan = plan_query(*arguments)
        probes = [step for step in plan.steps if isinstance(step, Probe)]
        if len(probes) > 1:
            seen.add(" ".join(f"{'Δ' if probe.delta else ''}{probe.rows.source}" for probe in probes))
        return plan

    monkeypatch.setattr(columnar, "plan_query", watched)
    program = Program(DECLARATIONS + rules).optimised(verified=True)
    facts = {name: rows for name, rows in FACTS.items() if name in program.relations}
    rows = LocalEngine(patience=0).run(program, Evaluation(facts, options=RunOptions(reorder=reorder)))
    unplanned = Program(DECLARATIONS + rules.partition(".plan")[0]).optimised(["all"])
    assert set(rows["r"]) == set(NaiveEngine().run(unplanned, Evaluation(facts))["r"]) != set()
    return seen


@pytest.mark.parametrize("reorder", [True, False])
@pytest.mark.parametrize(("order", "expected"), [("2, 3, 1", "b c a"), ("1, 2, 3", "a b c"), ("1, 3, 2", "a c b")])
def test_a_rule_that_runs_once(order: str, expected: str, reorder: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert orders_of(f"{ONCE} .plan 0: ({order})", monkeypatch, reorder=reorder) == {expected}


def test_without_a_plan_samples_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert orders_of(ONCE, monkeypatch) == {"c b a"}


@pytest.mark.parametrize(("order", "expected"), [("1, 2", "Δr b"), ("2, 1", "b Δr")])
def test_new_rows_are_read_where_the_plan_says(order: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert orders_of(f"{START} {LINEAR} .plan 0: ({order})", monkeypatch) == {expected}


def test_every_recursive_atom_is_a_version_with_an_order_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ".plan 0: (2, 1, 3), 1: (1, 2, 3)"
    assert orders_of(f"{START} {TWICE} {plan}", monkeypatch) == {"b Δr r", "r b Δr"}


def test_new_rows_that_nothing_before_them_joins_with_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 0 would multiply all rows of `r` with the new ones."""
    plan = ".plan 0: (3, 1, 2), 1: (2, 3, 1)"
    assert orders_of(f"{START} {TWICE} {plan}", monkeypatch) == {"Δr r b", "b Δr r"}


def test_a_version_without_an_order_is_ordered_by_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    found = orders_of(f"{START} {TWICE} .plan 1: (1, 2, 3)", monkeypatch)
    assert "r b Δr" in found
    assert all(order.startswith("Δr") for order in found - {"r b Δr"})
    assert len(found) > 1


def test_tests_and_negations_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = "r(x, z) :- x != z, a(x, y), !c(y, x), b(y, z), z > 0. .plan 0: (2, 1)"
    assert orders_of(rule, monkeypatch) == {"b a"}


def test_constants_and_blanks_in_atoms_do_not_hide_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert orders_of("r(x, y) :- a(x, y), b(1, _), c(12, _). .plan 0: (3, 1, 2)", monkeypatch) == {"c a b"}


@pytest.mark.parametrize("rule", [ONCE, f"{START} {LINEAR}", f"{START} {TWICE}"])
def test_passes_leave_the_atoms_in_their_order(rule: str) -> None:
    atoms = rule.split(":-")[-1].count("(")
    order = ", ".join(map(str, range(atoms, 0, -1)))
    text = f"{DECLARATIONS} {rule} .plan 0: ({order}) .decl p(x: number) .output p p(x) :- r(1, x)."
    written, planned = (scans_with_a_plan(Program(text).optimised(without)) for without in (["all"], []))
    assert len(written) == atoms
    assert planned == written


def scans_with_a_plan(program: Ir) -> list[str]:
    """What the rules with a plan read, in order."""
    rules = [rule for stratum in program.strata for rule in stratum.rules if rule.plan]
    return [line.strip() for rule in rules for line in print_node(rule.body).splitlines() if "scan" in line]

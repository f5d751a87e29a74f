"""Sideways information passing: FlowLog's example, what it is for, what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from tests.passes.same_answers import CASES, MAY_BE_SLOW, applied, assert_same_case, assert_same_text, case_name
from tests.properties import brute_force
from tests.properties.programs import programs

from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.ir.program import Program as Ir
from flintlog.ir.text import parse_program, print_program
from flintlog.ir.text.node_printer import print_node
from flintlog.passes.sip.sideways import sip
from flintlog.passes.structural.planner import structural

DECLARATIONS = """
    .decl c(y: number, w: number, z: number) .input c
    .decl u(w: number, r: number, z: number) .input u
    .decl e(x: number, y: number) .input e
    .decl p(x: number, z: number) .output p
    p(x, y) :- e(x, y).
"""
R3 = "p(x, z) :- c(y, w, z), p(x, w), p(x, y)."


def reduced(rules: str) -> Ir:
    return applied(Program(DECLARATIONS + rules).results_only(), {"p"}, sip)


def reduced_anyway(program: Ir) -> Ir:
    """The reduction of any cycle, whether it pays or not."""
    with patch("flintlog.passes.sip.reduction.is_indifferent", return_value=True):
        return applied(program, {"p"}, sip)


def bodies(program: Ir) -> dict[str, str]:
    """The tree of each relation's last rule."""
    return {rule.relation: print_node(rule.body) for stratum in program.strata for rule in stratum.rules}


EXAMPLE_6_1 = {
    "p$2.1": """\
semijoin [y]
  scan p(x: number, y: number)
  scan c(y: number, w$1: number, z$1: number)""",
    "p$2.2": """\
join [x] (x, w)
  semijoin [w]
    scan p(x: number, w: number)
    scan c(y$1: number, w: number, z$2: number)
  map (x)
    scan `p$2.1`(x: number, y$2: number)""",
    "p$2.3": """\
join [x] (x, y)
  scan `p$2.1`(x: number, y: number)
  map (x)
    scan `p$2.2`(x: number, w$2: number)""",
    "c$2.4": """\
join [y] (y, w, z)
  join [w] (y, w, z)
    scan c(y: number, w: number, z: number)
    map (w)
      scan `p$2.2`(x$2: number, w: number)
  map (y)
    scan `p$2.3`(x$1: number, y: number)""",
    "p": """\
join [y, x] (x, z)
  join [w] (y, z, x)
    scan `c$2.4`(y: number, w: number, z: number)
    scan `p$2.2`(x: number, w: number)
  scan `p$2.3`(x: number, y: number)""",
}


def test_example_6_1() -> None:
    assert bodies(reduced(R3)) == EXAMPLE_6_1


def test_the_text_form_reads_back() -> None:
    program = reduced(R3)
    assert parse_program(print_program(program)) == program


def test_what_it_has_made_stays_as_it_is() -> None:
    program = reduced(R3)
    assert applied(program, {"p"}, sip) is program


def test_what_does_not_depend_on_the_recursion_comes_before_it() -> None:
    rule = "p(x, v) :- p(x, y), c(y, w, z), u(w, z, v), p(v, x)."
    program = reduced_anyway(Program(DECLARATIONS + rule).results_only())
    recursive = next(stratum for stratum in program.strata if "p" in stratum.relations)
    before = program.strata[: program.strata.index(recursive)]
    made = [name for stratum in before for name in stratum.relations if "$" in name]
    assert made
    assert all(not stratum.recursive for stratum in before)
    assert len(made) < sum("$" in name for name in program.relations)


@pytest.mark.parametrize(
    "rules",
    [
        "p(x, z) :- p(x, y), p(y, z).",  # two atoms have no result in between
        "p(x, w) :- p(x, y), p(y, z), p(z, w).",  # no cycle
        "p(x, z) :- c(x, y, z), p(x, y), p(y, z), e(x, z).",  # all the others are filters of the first
        "p(x, z) :- p(y, w), u(w, r, z), c(x, r, y).",  # to join u and c first is bad, so the planner does not
        "p(x, z) :- c(y, w, z), p(x, w), e(x, y).",  # one atom changes
        "p(x, z) :- e(x, y), e(y, z), e(z, x).",  # runs once
        f"{R3} .plan 0: (1, 2, 3)",
        "p(x, z) :- c(y, w, z), p(x, w), p(x, y), v = z / w, v > 1.",  # can fail
        f"{R3} .limitsize p(n=100)",
        ".decl t(x: number, r: unsigned) t(x, __ITERATION__()) :- p(x, y), e(y, x). p(x, x) :- t(x, _)." + R3,
    ],
)
def test_left_alone(rules: str) -> None:
    program = Program(DECLARATIONS + rules).results_only()
    assert applied(program, {"p"}, sip) is program


@pytest.mark.parametrize(
    "relation",
    [
        "m(x: number, y: number) choice-domain x",
        "m(x: number, y: number) eqrel",
    ],
)
def test_relations_with_a_will_of_their_own_are_left_alone(relation: str) -> None:
    rules = f".decl {relation} m(x, y) :- p(x, y). p(x, y) :- m(x, y). {R3}"
    program = Program(DECLARATIONS + rules).results_only()
    assert applied(program, {"p"}, sip) is program


FILTERED = [
    R3,
    "p(x, z) :- c(y, w, z), p(x, w), p(x, y), w < y.",
    "p(x, z) :- c(y, w, z), p(x, w), p(x, y), w != x, !e(z, x), v = x + y, v < 9.",
    "p(x, z) :- c(y, 1, z), p(x, z), p(x, y), e(y, _).",
    "p(x, v) :- p(x, y), c(y, w, z), u(w, z, v), p(v, x).",
    "p(x, i) :- c(y, w, z), p(x, w), p(x, y), i = range(0, z).",
    "p(a, b) :- p(a, x), p(x, y), p(y, z), p(z, a), c(x, z, b).",
    "p(x, z) :- c(y, y, z), p(x, z), p(x, y).",
]

_values = st.integers(0, 4)


@pytest.mark.parametrize("rule", FILTERED)
@given(
    st.sets(st.tuples(_values, _values), max_size=8),
    st.sets(st.tuples(_values, _values, _values), max_size=14),
    st.sets(st.tuples(_values, _values, _values), max_size=8),
)
@settings(max_examples=15)
def test_same_rows(
    rule: str, e: set[tuple[int, int]], c: set[tuple[int, int, int]], u: set[tuple[int, int, int]]
) -> None:
    before = Program(DECLARATIONS + rule).results_only()
    after = reduced_anyway(before)
    assert after is not before
    facts = Evaluation({name: list(rows) for name, rows in (("e", e), ("c", c), ("u", u)) if name in before.relations})
    expected = set(NaiveEngine().run(before, facts)["p"])
    for program in (after, applied(after, {"p"}, structural)):
        for semi_naive in (True, False):
            assert set(NaiveEngine(semi_naive=semi_naive).run(program, facts)["p"]) == expected


@given(programs())
@settings(max_examples=25, suppress_health_check=MAY_BE_SLOW)
def test_random_programs(program: brute_force.Program) -> None:
    note(program.text())
    with patch("flintlog.passes.sip.reduction.is_indifferent", return_value=True):
        assume(assert_same_text(program.text(), sip, structural))


@pytest.mark.slow
@given(programs())
@settings(max_examples=3000, suppress_health_check=MAY_BE_SLOW)
def test_random_programs_at_length(program: brute_force.Program) -> None:
    note(program.text())
    with patch("flintlog.passes.sip.reduction.is_indifferent", return_value=True):
        assume(assert_same_text(program.text(), sip, structural))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_programs(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_case(case, monkeypatch, sip, structural)

"""Which strategy a stratum gets, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flintlog.api.user_program import Program
from flintlog.engines.spark.strata.choose import Segment, Situation, alternatives, plan_segments
from flintlog.ir.program import Program as IrProgram
from flintlog.ir.shared import without_shared

CLOSURE = "p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z)."
SAME_GENERATION = "p(x, y) :- e(a, x), e(a, y). p(x, y) :- e(a, x), p(a, b), e(b, y)."
AUTO = Situation("auto", tasks=4, sizes={"e": 8 << 20}, broadcast_limit=512 << 20, memory=8 << 30)


def compiled(rules: str, declarations: str = "") -> IrProgram:
    text = f"""
        .decl e(x: number, y: number) .input e
        .decl p(x: number, y: number) .output p
        {declarations} {rules}
    """
    return without_shared(Program(text).optimised())


def chosen(program: IrProgram, situation: Situation) -> list[tuple[str, tuple[str, ...]]]:
    segments = plan_segments(program, situation)
    return [(s.strategy, tuple(name for stratum in s.strata for name in stratum.relations)) for s in segments]


def test_a_pivot_makes_parts_and_its_absence_residents() -> None:
    assert chosen(compiled(CLOSURE), AUTO) == [("decomposed", ("p",))]
    assert chosen(compiled(SAME_GENERATION), AUTO) == [("resident", ("p",))]


def test_little_fits_one_task() -> None:
    for rules in (CLOSURE, SAME_GENERATION):
        assert chosen(compiled(rules), replace(AUTO, sizes={"e": 1000})) == [("single", ("p",))]
    assert chosen(compiled(SAME_GENERATION), replace(AUTO, tasks=1)) == [("single", ("p",))]


def test_what_sees_its_inputs_once_is_for_one_task() -> None:
    reach = "p(x, x) :- e(x, x). r(x) :- p(x, _). r(y) :- r(x), e(x, y)."
    program = compiled(reach, ".decl r(x: number) .output r")
    assert {strategy for strategy, _ in chosen(program, AUTO)} == {"single"}
    assert chosen(program, replace(AUTO, sizes={"e": 100 << 20})) == [("resident", ("p", "r"))]


def test_more_than_memory_is_left_to_what_spills() -> None:
    assert chosen(compiled(CLOSURE), replace(AUTO, sizes={"e": 4 << 30})) == [("dataframe", ("p",))]


def test_an_input_beyond_the_broadcast_limit_makes_no_parts() -> None:
    assert chosen(compiled(CLOSURE), replace(AUTO, broadcast_limit=1 << 20)) == [("resident", ("p",))]


def test_what_runs_once_goes_along() -> None:
    program = compiled(SAME_GENERATION + "q(x) :- p(x, _), !e(x, _).", ".decl q(x: number) .output q")
    assert chosen(program, AUTO) == [("resident", ("p", "q"))]


def test_what_cannot_be_shared_says_why() -> None:
    program = compiled(
        'p(x, y) :- e(x, y). s(cat(to_string(x), a)) :- s(a), e(x, _). s("").', ".decl s(a: symbol) .output s"
    )
    segments = plan_segments(program, replace(AUTO, wanted="resident"))
    (alone,) = [segment for segment in segments if segment.strata[-1].relations == ("s",)]
    assert (alone.strategy, alone.reason) == ("single", "not resident: a rule makes symbols or records")


@pytest.mark.parametrize("wanted", ["single", "decomposed", "resident", "dataframe"])
def test_a_strategy_can_be_forced(wanted: str) -> None:
    assert chosen(compiled(CLOSURE), replace(AUTO, wanted=wanted, sizes={"e": 10})) == [(wanted, ("p",))]


def test_what_a_task_has_no_memory_for_is_tried_another_way() -> None:
    program = compiled(CLOSURE)
    stratum = next(stratum for stratum in program.strata if stratum.rules)
    others = alternatives(program, Segment("single", (stratum,), ""), AUTO)
    assert [[segment.strategy for segment in way] for way in others] == [["decomposed"], ["resident"], ["dataframe"]]


def test_relations_are_not_handed_over_between_recursive_strata() -> None:
    """One closure alone is decomposed; two of them stay in the tasks that have computed the first."""
    rules = CLOSURE + "r(x, y) :- p(x, y), x < y. r(x, z) :- r(x, y), p(y, z)."
    declarations = ".decl r(x: number, y: number) .output r"
    assert chosen(compiled(rules, declarations), AUTO) == [("resident", ("p", "r"))]
    small = replace(AUTO, sizes={"e": 100_000})
    assert chosen(compiled(rules, declarations), small) == [("single", ("p", "r"))]

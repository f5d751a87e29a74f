"""What the strategy `dataframe` refuses, and says so; and random programs, which it does not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from tests.properties import brute_force
from tests.properties.programs import programs
from tests.spark.dataframe_runs import run_dataframe

from flintlog.api.user_program import Program
from flintlog.engines.spark.dataframe import applies

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFUSED = {
    "`r` is an equivalence": ".decl r(x: number, y: number) eqrel .output r r(1, 2).",
    "`r` chooses among rows": ".decl r(x: number, y: number) choice-domain x .output r r(1, 2). r(1, 3).",
    "`autoinc` counts over the whole run": ".decl s(x: number) .input s .decl r(x: number, n: number) .output r "
    "r(x, autoinc()) :- s(x).",
    "`@f` has a state": ".functor f(x: number): number stateful .decl s(x: number) .input s "
    ".decl r(x: number) .output r r(@f(x)) :- s(x).",
    "rows of `r` subsume one another in a way of their own": ".decl r(x: number, y: number) .output r "
    "r(1, 2). r(2, 3). r(a, b) <= r(c, d) :- a < c, b < d.",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_refuses(reason: str) -> None:
    program = Program(REFUSED[reason]).optimised()
    assert reason in [applies(program, stratum) for stratum in program.strata]


def test_merges_of_numbers_apply() -> None:
    text = (
        ".decl r(x: number, y: number) .output r r(1, 2). r(x, y + 1) :- r(x, y), y < 9. r(x, a) <= r(x, b) :- a < b."
    )
    program = Program(text).optimised()
    assert [applies(program, stratum) for stratum in program.strata] == [None] * len(program.strata)


def compare(spark: SparkSession, program: brute_force.Program, partitions: int) -> None:
    note(program.text())
    expected = brute_force.evaluate(program)
    found = run_dataframe(spark, program.text(), partitions=partitions)
    assert {name: found[name] for name in expected if name in found} == expected


# A program takes seconds: nobody waits for a smaller one.
limits = partial(
    settings,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


@given(program=programs())
@limits(max_examples=3, derandomize=True)
def test_random_programs_have_the_answer_of_the_definition(spark: SparkSession, program: brute_force.Program) -> None:
    compare(spark, program, 1)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2, 7])
@given(program=programs())
@limits(max_examples=30)
def test_random_programs_at_length(spark: SparkSession, program: brute_force.Program, partitions: int) -> None:
    compare(spark, program, partitions)

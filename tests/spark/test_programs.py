"""Every case of tests/programs on Spark, against the expectation that the other engines meet.

The slow lane leaves the strategy to the engine, then forces each one, with 1, 2 and 7 parts of a stratum; a stratum to
which it does not apply gets another, and enough cases must have had strata that got what was told. The fast lane takes
a sample, in which every feature, every strategy and every number of parts occurs. Where the session is comes from the
environment (conftest.py): test_clusters.py runs this file on clusters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.lanes import sampled
from tests.programs.cases import CASES, HERE, check_case, few_of_each_feature, name_of, optimised, run_case

from flintlog.engines.protocol import Progress
from flintlog.engines.spark.engine import SparkEngine
from flintlog.engines.spark_options import STRATEGIES, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = (1, 2, 7)
# What the fast lane's sample tries in turn; `decomposed` applies to few strata, and gets cases of its own.
WAYS = ("auto", "dataframe", "resident", "single")
RECURSIVE = [HERE / "recursion" / case for case in ("linear_left", "long_chain", "mutual")]
# How many of the cases, at least, have a stratum to which a strategy applies: a few less than there are.
LEAST = {"dataframe": 340, "decomposed": 12, "resident": 320, "single": 400}


def run_on(
    spark: SparkSession, case: Path, out: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, partitions: int
) -> list[str]:
    """Runs and checks a case; returns what was said about strategies."""
    notes: list[str] = []

    def listen(progress: Progress) -> None:
        if progress.note:
            notes.append(progress.note)

    options = SparkOptions(session=spark, strategy=strategy, partitions=partitions)
    printed = run_case(case, out, monkeypatch, SparkEngine(), spark=options, progress=listen)
    check_case(case, out, printed)
    return notes


@pytest.fixture(scope="module")
def told() -> dict[tuple[str, int], Counter[bool]]:
    """For a strategy and a number of parts: how many cases had a stratum that got it as told, and how many had none."""
    return defaultdict(Counter)


def in_the_fast_lane() -> set[tuple[str, int, Path]]:
    """Some cases of each feature, each with the next strategy and number of parts in turn."""
    sample = list(few_of_each_feature(8))
    runs = {(WAYS[i % len(WAYS)], PARTITIONS[i // len(WAYS) % len(PARTITIONS)], case) for i, case in enumerate(sample)}
    return runs | {("decomposed", partitions, case) for partitions, case in zip(PARTITIONS, RECURSIVE, strict=True)}


def every_run() -> Iterator[Any]:
    sample = in_the_fast_lane()
    for strategy, partitions, case in product(STRATEGIES, PARTITIONS, CASES):
        is_in_sample, as_users_do = (strategy, partitions, case) in sample, (strategy, partitions) == ("auto", 2)
        marks = sampled(is_in_sample) if is_in_sample or as_users_do else [pytest.mark.slow]
        yield pytest.param(strategy, partitions, case, marks=marks, id=f"{strategy}-{partitions}-{name_of(case)}")


@pytest.mark.parametrize(("strategy", "partitions", "case"), list(every_run()))
def test_strategy(
    strategy: str,
    partitions: int,
    case: Path,
    spark: SparkSession,
    told: dict[tuple[str, int], Counter[bool]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needless = why_not(case, strategy)
    notes = [] if needless else run_on(spark, case, tmp_path, monkeypatch, strategy, partitions)
    told[strategy, partitions][any(f": {strategy}, as told" in note for note in notes)] += 1
    if needless:
        pytest.skip(needless)


def why_not(case: Path, strategy: str) -> str | None:
    """Why a run would show nothing that another does not show too."""
    if strategy == "decomposed":
        if not any(stratum.recursive for stratum in optimised(case).strata):
            return "without recursion it runs as with `dataframe`"
    return None


@pytest.mark.slow
def test_enough_strata_got_what_was_told(told: dict[tuple[str, int], Counter[bool]]) -> None:
    complete = {key: count for key, count in told.items() if count.total() == len(CASES) and key[0] in LEAST}
    if not complete:
        pytest.skip("no strategy ran with all cases")
    too_few = {key: count[True] for key, count in complete.items() if count[True] < LEAST[key[0]]}
    assert not too_few, f"{too_few} of {len(CASES)}: too few cases in which the strategy was really used"

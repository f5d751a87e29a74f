"""Every case of tests/programs on Spark, against the expectation that the other engines meet.

The fast lane leaves the strategy to the engine. The slow lane forces each one, with 1, 2 and 7 parts of a stratum; a
stratum to which it does not apply gets another, and enough cases must have had strata that got what was told. Where
the session is comes from the environment (conftest.py): test_clusters.py runs this file on clusters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.cases import CASES, check_case, name_of, options_of, run_case

from flintlog.api.user_program import Program
from flintlog.engines.protocol import Progress
from flintlog.engines.spark.engine import SparkEngine
from flintlog.engines.spark_options import STRATEGIES, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = (1, 2, 7)
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


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_program(case: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(spark, case, tmp_path, monkeypatch, "auto", 2)


@pytest.fixture(scope="module")
def told() -> dict[tuple[str, int], Counter[bool]]:
    """For a strategy and a number of parts: how many cases had a stratum that got it as told, and how many had none."""
    return defaultdict(Counter)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
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
        program = Program.load(case / "program.dl", word_size=options_of(case).get("word_size", 64)).optimised()
        if not any(stratum.recursive for stratum in program.strata):
            return "without recursion it runs as with `dataframe`"
    return None


@pytest.mark.slow
def test_enough_strata_got_what_was_told(told: dict[tuple[str, int], Counter[bool]]) -> None:
    complete = {key: count for key, count in told.items() if count.total() == len(CASES) and key[0] in LEAST}
    if not complete:
        pytest.skip("no strategy ran with all cases")
    too_few = {key: count[True] for key, count in complete.items() if count[True] < LEAST[key[0]]}
    assert not too_few, f"{too_few} of {len(CASES)}: too few cases in which the strategy was really used"

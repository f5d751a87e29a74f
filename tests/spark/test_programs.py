"""Every case of tests/programs on Spark, against the expectation that the other engines meet.

The fast lane leaves the strategy to the engine. The slow lane forces each one, with 1, 2 and 7 parts of a stratum; a
stratum to which it does not apply gets another, and at the end enough of them must have got what was told.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.cases import CASES, check_case, name_of, run_case

from flintlog.engines.engine import Progress
from flintlog.engines.spark_options import STRATEGIES, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = (1, 2, 7)


def run_on(
    spark: SparkSession, case: Path, out: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, partitions: int
) -> list[str]:
    """Runs and checks a case; returns what was said about strategies."""
    notes: list[str] = []

    def listen(progress: Progress) -> None:
        if progress.note:
            notes.append(progress.note)

    options = SparkOptions(session=spark, strategy=strategy, partitions=partitions)
    printed = run_case(case, out, monkeypatch, engine="spark", spark=options, progress=listen)
    check_case(case, out, printed)
    return notes


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_program(case: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(spark, case, tmp_path, monkeypatch, "auto", 2)


@pytest.fixture(scope="module")
def told() -> dict[str, set[str]]:
    """By strategy, the cases that ran, and, with a star, those of which some stratum got it as told."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies(
    strategy: str,
    partitions: int,
    case: Path,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = run_on(spark, case, tmp_path, monkeypatch, strategy, partitions)
    print("NOTES", notes)

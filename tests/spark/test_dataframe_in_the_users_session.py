"""What the strategy `dataframe` takes from the user's session and leaves there, and what must not depend on it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flintlog as fl
from flintlog.engines.spark.dataframe import rounds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(result: fl.Result, name: str) -> list[Any]:
    return sorted(map(tuple, result[name]))


def agrees(spark: SparkSession, text: str, *names: str, **facts: Any) -> fl.Result:
    """The result on Spark, which must be the naive engine's."""
    found = fl.Program(text).run(spark=spark, strategy="dataframe", **facts)
    expected = fl.Program(text).run(engine="naive", **facts)
    for name in names:
        assert rows(found, name) == rows(expected, name)
    return found


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[Any]:
    """The session's settings, as they were afterwards."""
    before: dict[str, str] = {}

    def say(key: str, value: str) -> None:
        before.setdefault(key, str(spark.conf.get(key)))
        spark.conf.set(key, value)

    yield say
    for key, value in before.items():
        spark.conf.set(key, value)


COUNTS = """
    .decl e(x: number, y: number)
    .decl k(x: number)
    .decl total(n: number, s: number)
    .decl per(x: number, n: number, s: number)
    .decl r(n: number)
    .output total, per, r
    k(1). k(3).
    total(n, s) :- n = count : { e(_, _) }, s = sum y : { e(_, y) }.
    per(x, n, s) :- k(x), n = count : { e(x, _) }, s = sum y : { e(x, y) }.
    r(0).
    r(n + m) :- r(n), n < 1, m = count : { e(_, _) }.
"""


def test_facts_that_come_several_times_count_once(spark: SparkSession) -> None:
    facts = [(1, 2), (1, 2), (1, 3), (2, 5), (2, 5), (2, 5)]
    agrees(spark, COUNTS, "total", "per", "r", e=facts)
    frame = spark.createDataFrame(facts, "x long, y long")
    found = fl.Program(COUNTS).run(spark=spark, strategy="dataframe", e=frame)
    assert rows(found, "total") == [(3, 10)]
    assert rows(found, "r") == [(0,), (3,)]


@pytest.mark.parametrize("longest", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_symbols_keep_their_numbers_when_tasks_come_late(spark: SparkSession, longest: int) -> None:
    """The rule for `b` makes nothing: its task runs after those that make symbols, with what was known before them."""
    text = f"""
        .decl w(a: symbol)
        .decl b(s: symbol)
        .decl p(s: symbol)
        .output p, b
        b(s) :- p(s), strlen(s) > 2.
        p(s) :- w(s).
        p(s) :- b(s), s = "none".
        p(cat(s, "a")) :- p(s), strlen(s) < {longest}.
        p(cat(s, "b")) :- p(s), strlen(s) < {longest}.
    """
    agrees(spark, text, "p", "b", w=[("x",)])


def test_empty_groups_are_not_computed_with(spark: SparkSession) -> None:
    text = """
        .decl k(x: number)
        .decl e(x: number, y: number)
        .decl t(x: number, s: symbol)
        .decl q(x: number, n: number)
        .decl u(x: number, n: number)
        .output q, u
        q(x, n) :- k(x), n = sum 10 / ? : { e(x, ?) }.
        u(x, n) :- k(x), n = sum to_number(s) : { t(x, s) }, n < 100.
    """
    agrees(spark, text, "q", "u", k=[(1,), (2,)], e=[(1, 2), (1, 5)], t=[(1, "4"), (1, "38")])


def test_copies_of_made_symbols_are_numbered_too(spark: SparkSession) -> None:
    text = """
        .decl e(x: symbol)
        .decl q(x: symbol, y: symbol)
        .output q
        q(s, t) :- e(x), s = cat(x, "y"), t = s.
    """
    found = fl.Program(text).run(spark=spark, strategy="dataframe", without="all", e=[("a",), ("b",), ("c",)])
    assert rows(found, "q") == [("ay", "ay"), ("by", "by"), ("cy", "cy")]


def test_a_limit_counts_keys_where_rows_replace_others(spark: SparkSession) -> None:
    text = """
        .decl e(x: number, y: number, c: number)
        .decl d(x: number, c: number)
        .output d
        .limitsize d(n = 7)
        d(0, MIN(0)).
        d(y, MIN(c + w)) :- d(x, c), e(x, y, w).
    """
    arcs = [(x, y, 100) for x, y in ((0, 1), (0, 2), (0, 3), (1, 4), (2, 5))] + [(x, x + 1, 1) for x in range(9)]
    agrees(spark, text, "d", e=arcs)


def test_rounds_are_numbered_anew_when_a_stratum_begins_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        .decl e(x: number, y: number)
        .decl p(x: number, y: number, n: unsigned)
        .output p
        p(x, y, recursive_iteration_cnt()) :- e(x, y).
        p(x, z, n) :- p(x, y, n), e(y, z).
    """
    facts = [(i, i + 1) for i in range(6)]
    whole = rounds.Rounds._round
    failed: list[int] = []

    def once_without_room(self: rounds.Rounds, round: int) -> None:
        if round == 4 and not failed:
            failed.append(round)
            raise RuntimeError("UNABLE_TO_ACQUIRE_MEMORY")
        whole(self, round)

    monkeypatch.setattr(rounds.Rounds, "_round", once_without_room)
    agrees(spark, text, "p", e=facts)
    assert failed


def test_the_users_plans_run_with_the_settings_of_now(spark: SparkSession, settings: Any) -> None:
    program = fl.Program(".decl e(x: number, y: number) .decl p(x: number, y: number) .output p p(x, y) :- e(x, y).")
    hour = "hour(timestamp_seconds(0))"
    loose = "to_unix_timestamp('2020-1-3 5', 'yyyy-MM-dd H')"  # which only the old parser takes
    for zone, policy, what in (("Asia/Tokyo", "CORRECTED", hour), ("America/Lima", "LEGACY", loose)):
        settings("spark.sql.session.timeZone", zone)
        settings("spark.sql.legacy.timeParserPolicy", policy)
        frame = spark.sql(f"SELECT id AS x, coalesce({what}, -1L) AS y FROM range(3)")
        expected = sorted(map(tuple, frame.collect()))
        assert rows(program.run(spark=spark, strategy="dataframe", e=frame), "p") == expected


def test_names_are_names_whatever_the_session_says(spark: SparkSession, settings: Any) -> None:
    settings("spark.sql.parser.quotedRegexColumnNames", "true")
    agrees(spark, COUNTS, "total", "per", e=[(1, 2), (3, 4)])


MADE = ".decl e(x: symbol) .decl p(x: symbol) .output p p(x) :- e(x). p(cat(x, x)) :- p(x), strlen(x) < 4."


def test_the_active_session_stays_the_users(spark: SparkSession) -> None:
    from pyspark.sql import SparkSession as Session

    spark.range(1).collect()
    before = Session.getActiveSession()
    agrees(spark, MADE, "p", e=[("a",)])
    after = Session.getActiveSession()
    assert before is not None
    assert after is not None
    assert after._jsparkSession.equals(before._jsparkSession)


def test_nothing_piles_up(spark: SparkSession, tmp_path: Path) -> None:
    """Spark gives back what nobody has any more when Java looks for garbage."""
    context: Any = spark.sparkContext

    def kept() -> int:
        gc.collect()
        context._jvm.System.gc()
        rows: int = context._jsc.getPersistentRDDs().size()
        return rows + len(list(Path(context._temp_dir).rglob("*")))

    def run() -> None:
        fl.Program(MADE).run(spark=spark, strategy="dataframe", checkpoint_dir=tmp_path, e=[("a",), ("b",)])

    run()
    first = kept()
    for _ in range(3):
        run()
    end = time.monotonic() + 60
    while kept() > first:
        assert time.monotonic() < end, "something is kept"
        time.sleep(0.5)

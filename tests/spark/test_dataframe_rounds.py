"""How the strategy `dataframe` goes about its rounds: jobs, plans and what executors keep do not grow with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.lanes import sampled
from tests.spark.dataframe_runs import Facts, Seen, agree, run_dataframe, run_naive

from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.dataframe import fixed, growing, relations, rounds
from flintlog.engines.spark.dataframe.logical_leaves import frame_of_plan
from flintlog.engines.spark.dataframe.sql import plans
from flintlog.engines.spark.dataframe.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLOSURE = """
    .decl e(x: number, y: number) .input e
    .decl p(x: number, y: number) .output p
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
"""


def chain(length: int) -> dict[str, list[tuple[int, int]]]:
    return {"e": [(i, i + 1) for i in range(length)]}


def kept_blocks(spark: SparkSession) -> int:
    context: Any = spark.sparkContext
    return len(context._jsc.sc().getRDDStorageInfo())


class Watch:
    """Counts jobs, and what is kept, from round to round."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.kept: list[int] = []
        self.jobs: list[int] = []

    def append(self, numbers: object) -> None:
        tracker = self.spark.sparkContext.statusTracker()
        self.kept.append(kept_blocks(self.spark))
        self.jobs.append(len(tracker.getJobIdsForGroup("rounds")))


def test_a_round_is_one_job_and_nothing_piles_up(spark: SparkSession) -> None:
    watch = Watch(spark)
    seen = Seen()
    seen.rounds = watch  # type: ignore[assignment]
    before = kept_blocks(spark)
    spark.sparkContext.setJobGroup("rounds", "a closure")
    run_dataframe(spark, CLOSURE, chain(40), seen=seen)
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    # The facts are a stratum of their own. The first round also keeps the inputs.
    jobs = [after - now for now, after in zip(watch.jobs[2:], watch.jobs[3:], strict=False)]
    assert set(jobs) == {1}
    assert max(watch.kept) - before <= relations.MOST_PARTS + 4
    assert kept_blocks(spark) == before


def test_plans_do_not_grow(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[int] = []
    sql = Workspace.sql

    def measured(self: Workspace, text: str) -> Any:
        texts.append(len(text))
        return sql(self, text)

    monkeypatch.setattr(Workspace, "sql", measured)
    run_dataframe(spark, CLOSURE, chain(26))
    assert max(texts[-11:]) <= max(texts[:16]) + 100


def test_the_users_session_stays_as_it_is(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll.items())
    run_dataframe(spark, CLOSURE, chain(3), partitions=2)
    assert dict(spark.conf.getAll.items()) == before
    assert spark.catalog.listTables() == []


def test_progress_and_descriptions(spark: SparkSession) -> None:
    seen = Seen()
    run_dataframe(spark, CLOSURE, chain(3), seen=seen)
    assert seen.rounds[-4:] == [(0, 3, 3), (1, 2, 5), (2, 1, 6), (3, 0, 6)]
    assert seen.jobs[-1] == "round 3"


def test_rows_move_to_several_partitions_when_they_become_many(spark: SparkSession) -> None:
    seen = Seen()
    agree(spark, CLOSURE, chain(12), partitions=3, small_rows=40, seen=seen)
    assert "more partitions" in seen.jobs


BY_POINTS = """
    .decl base(x: number, y: number, p: number) .input base
    .decl step(p: number, q: number) .input step
    .decl stays(x: number, y: number) .input stays
    .decl below(x: number, y: number, p: number) .output below
    below(x, y, p) :- base(x, y, p).
    below(x, z, p) :- below(x, y, p), below(y, z, p).
    below(x, y, q) :- below(x, y, p), step(p, q), stays(x, y).
"""


def test_rows_are_partitioned_by_joins_again_when_few_are_new(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst, in which equal candidates had better meet before they travel; then a long way with one row a round."""
    monkeypatch.setattr(rounds, "SLOW", 0)
    placed: list[tuple[int, ...]] = []
    grow = relations.Relations.grow

    def watched(self: relations.Relations, texts: Any) -> None:
        grow(self, texts)
        placed.extend(growing.partition_columns for name, growing in self.growing.items() if name == "below")

    monkeypatch.setattr(relations.Relations, "grow", watched)
    facts: Facts = {
        "base": [(i, i + 1, 0) for i in range(12)],
        "step": [(i, i + 1) for i in range(12)],
        "stays": [(0, 1)],
    }
    agree(spark, BY_POINTS, facts, partitions=3)
    by_all, by_points = placed.index(()), len(placed) - 1
    # What the two joins of the relation with itself have in common is the point.
    assert placed[0] == placed[by_points] == (2,)
    assert 0 < by_all < by_points


def _plans_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans of all that is kept from now on."""
    plans: list[str] = []
    keep = Workspace.persist

    def watched(self: Workspace, frames: Any) -> Any:
        plans.extend(frame._jdf.queryExecution().executedPlan().toString() for frame in frames)
        return keep(self, frames)

    monkeypatch.setattr(Workspace, "persist", watched)
    return plans


def test_large_parts_are_joined_where_they_are(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What rules read whole has several parts; only what is new, and small parts, move to be joined with it."""
    monkeypatch.setattr(growing, "LARGE", 8)
    monkeypatch.setattr(rounds, "SLOW", float("inf"))  # or a busy machine chooses other columns to partition by
    plans = _plans_of(monkeypatch)
    facts: Facts = {
        "base": [(i, i + 1, point) for i in range(6) for point in (0, 20)],
        "step": [(i, i + 1) for i in range(8)],
        "stays": [(i, i + 1) for i in range(6)],
    }
    agree(spark, BY_POINTS, facts, partitions=2)
    leaf = r"\*\(\d+\) Project[^\n]*\n[: ]*\+- \*\(\d+\) Scan ExistingRDD"
    unmoved = rf"ShuffledHashJoin[^\n]* (?:Inner|LeftSemi),[^\n]*\n[: ]*:- {leaf}[^\n]*\n[: ]*\+- {leaf}"
    # Two versions of the rule that joins the relation with itself, each with two large parts or more.
    assert max(len(re.findall(unmoved, plan)) for plan in plans) >= 4


def test_sorted_joins_have_the_same_answer(spark: SparkSession) -> None:
    agree(spark, CLOSURE, chain(6), partitions=2, hash_rows=0)


def test_rules_that_come_of_one_another_have_their_own_plans(spark: SparkSession) -> None:
    """What asks for rows of `t` is made of the rule that reads them, and has the same scans."""
    text = """
        .decl a(x: number, y: number) .input a
        .decl p(x: number, y: number) .output p
        .decl q(x: number, y: number) .output q
        .decl t(x: number, y: number)
        p(x, y) :- a(x, y).
        t(x, y) :- p(x, z), q(z, y).
        t(x, y) :- a(x, y).
        q(x, y) :- t(y, y), t(y, x), a(_, y), a(y, 3).
    """
    facts: Facts = {"a": [(1, 1), (1, 3), (1, 2), (2, 1)]}
    assert run_dataframe(spark, text, facts)["q"] == {(1, 1), (2, 1), (3, 1)}
    agree(spark, text, facts, partitions=2)


MET = """
    .decl e(x: number, y: number) .input e
    .decl p(x: number, y: number) .decl q(x: number, y: number) .output p, q
    p(x, y) :- e(x, y), x < 2.
    q(x, y) :- e(x, y).
    q(x, z) :- q(x, y), e(y, z), p(x, _).
    p(y, x) :- q(x, y), p(x, _), q(y, _), y < 9.
"""


@pytest.mark.parametrize(
    ("partitions", "few"),
    [pytest.param(p, few, marks=sampled((p == 2) == (few == 4))) for p in (1, 2) for few in (0, 4, 1 << 40)],
)
def test_what_is_only_looked_for_multiplies_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, partitions: int, few: int
) -> None:
    """Rows that must be there, whatever else they say, are met once; also where they are first looked for by others,
    which are fewer."""
    monkeypatch.setattr(plans, "_FEW", few)
    made = _plans_of(monkeypatch)
    agree(spark, MET, {"e": [(i, (i * 7 + j) % 12) for i in range(12) for j in range(3)]}, partitions=partitions)
    in_rounds = [plan for plan in made if "LeftAnti" in plan]
    assert in_rounds
    assert all("LeftSemi" in plan for plan in in_rounds)


STAR = """
    .decl e(x: number, y: number) .input e
    .decl s(x: number) .input s
    .decl p(x: number, y: number) .output p
    p(x, x) :- s(x).
    p(x, z) :- p(x, y), e(y, z).
"""


def test_a_key_with_most_of_the_rows_is_spread(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sources lead to one hub, from which a thousand edges go: without salt one task would do all the work."""
    monkeypatch.setattr(fixed, "WORTH_SALT", 100)
    sources = [(i,) for i in range(20)]
    edges = [(i, 1000) for i in range(20)] + [(1000, 2000 + i) for i in range(1000)]
    facts: Facts = {"e": edges, "s": sources}
    copies = _plans_of(monkeypatch)
    shares = _shares_of_joins(spark, monkeypatch)
    assert run_dataframe(spark, STAR, facts, partitions=4) == run_naive(STAR, facts)
    assert any("salt$" in plan and "Generate explode" in plan for plan in copies)
    # The busiest of four tasks has not much more than a quarter of 20,000 new rows.
    assert max(shares) < 0.35


def _shares_of_joins(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Of every large round, what part of its rows the busiest task has made."""
    shares: list[float] = []
    computed = Workspace._computed

    def counting(self: Workspace, frames: Any) -> Any:
        for frame in frames:
            plan = frame._jdf.queryExecution().executedPlan().toString()
            if "salt$" in plan and "LeftAnti" in plan:
                # Before candidates move to where they are compared with what is known, they stand where they arose.
                counts = _rows_by_task(self, frame)
                if sum(counts) > 10_000:
                    shares.append(max(counts) / sum(counts))
        return computed(self, frames)

    monkeypatch.setattr(Workspace, "_computed", counting)
    return shares


def _rows_by_task(workspace: Workspace, frame: Any) -> list[int]:
    plan = frame._jdf.queryExecution().optimizedPlan()
    while "Join Inner" not in plan.nodeName() + plan.simpleString(25):
        plan = plan.children().head()
    joined = frame_of_plan(workspace.spark, plan)
    joined.createOrReplaceTempView("joined_rows")
    rows = workspace.sql("SELECT count(*) FROM joined_rows GROUP BY spark_partition_id()").collect()
    workspace.spark.catalog.dropTempView("joined_rows")
    return [row[0] for row in rows]


def test_a_heap_of_rows_is_levelled(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything leads to one node: by that column, one partition would have nearly all rows."""
    monkeypatch.setattr(relations, "WORTH_BOTHERING", 10)
    monkeypatch.setattr(relations, "MOST_PARTS_SPREAD", 2)
    facts = {"e": [(i, 100) for i in range(12)] + [(100, 101), (101, 100), *((200 + i, 201 + i) for i in range(5))]}
    agree(spark, CLOSURE, facts, partitions=3)


def test_what_a_rule_does_wrong_is_said(spark: SparkSession) -> None:
    text = """
        .decl x(a: number, b: number) .input x
        .decl y(a: number) .output y
        y(a / b) :- x(a, b).
    """
    with pytest.raises(FlintlogError) as raised:
        run_dataframe(spark, text, {"x": [(1, 1), (1, 0)]})
    diagnostic = raised.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.message) == ("E801", "division by zero")
    assert diagnostic.span.line == 4


def test_what_is_odd_is_said(spark: SparkSession) -> None:
    text = """
        .decl x(a: symbol) .input x
        .decl y(a: symbol) .output y
        y(substr(a, 9, 1)) :- x(a).
    """
    seen = Seen()
    assert run_dataframe(spark, text, {"x": [("abc",)]}, seen=seen)["y"] == {("",)}
    assert len(seen.warnings) == 1
    assert "the text has no position 9" in seen.warnings[0]


def test_functions_of_the_user_run_in_tasks(spark: SparkSession) -> None:
    text = """
        .functor twice(x: number): number
        .functor shout(x: symbol): symbol
        .decl x(a: number, s: symbol) .input x
        .decl y(a: number, s: symbol) .output y
        y(@twice(a), @shout(s)) :- x(a, s).
    """
    functions = {"twice": lambda x: 2 * x, "shout": lambda s: s.upper() + "!"}
    assert agree(spark, text, {"x": [(1, "a"), (2, "b")]}, functions=functions)["y"] == {(2, "A!"), (4, "B!")}


def test_words_of_32_bits(spark: SparkSession) -> None:
    text = """
        .decl x(a: number, b: number) .input x
        .decl u(a: unsigned, b: unsigned) .input u
        .decl y(p: number, m: number, t: number, s: number) .output y
        .decl v(p: unsigned, m: unsigned, g: unsigned, s: unsigned) .output v
        .decl t(s: number, n: unsigned, l: unsigned) .output t
        y(a + b, a - b, a * b, a bshl b) :- x(a, b).
        v(a + b, a - b, max(a, b), a bshr b) :- u(a, b), a <= b.
        t(s, n, l) :- s = sum a : { x(a, _) }, n = sum a : { u(a, _) }, l = max a : { u(a, _) }.
    """
    ends = [-(2**31), -1, 3, 2**31 - 1]
    facts = {
        "x": [(a, b) for a in ends for b in ends],
        "u": [(a, b) for a in (0, 1, 2**31, 2**32 - 1) for b in (1, 2**31, 2**32 - 1)],
    }
    agree(spark, text, facts, word_size=32)

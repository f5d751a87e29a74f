"""Estimates from samples against counting all of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.unit.engines.local.probing import Row, rows_of, visible

from flintlog.engines.local.statistics import PROBED, UNKNOWN_FANOUT, UNKNOWN_ROWS, Statistics
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Rows
from flintlog.ir.scalar import Column
from flintlog.types import Kind


def literal(source: str, arity: int) -> Rows:
    return Rows(source, tuple(Column(f"{source}{i}", Kind.NUMBER) for i in range(arity)))


def statistics(**relations: Relation) -> Statistics:
    return Statistics(lambda rows: relations.get(str(rows.source)))


def matches(relation: Relation, key: tuple[int, ...], source: Relation, columns: tuple[int, ...]) -> float:
    """How many rows a probe really finds on average."""
    counts = Counter(tuple(row[p] for p in key) for row in rows_of(relation))
    return float(np.mean([counts[tuple(row[c] for c in columns)] for row in rows_of(source)]))


def skewed(seed: int, count: int) -> list[Row]:
    """Few values stand in most rows."""
    random = np.random.default_rng(seed)
    values = np.minimum(random.zipf(1.5, count), 5000)
    return list(zip(values.tolist(), random.integers(0, 10**6, count).tolist(), strict=True))


@pytest.mark.parametrize(("count", "factor"), [(400, 1.0001), (60_000, 1.6)])
def test_fanouts_of_skewed_data(count: int, factor: float):
    r, s = visible(2, skewed(1, count)), visible(2, skewed(2, count))
    a, b = literal("r", 2), literal("s", 2)
    found, expected = statistics(r=r, s=s).fanout(a, (0,), [(b, 0)]), matches(r, (0,), s, (0,))
    assert expected / factor <= found <= expected * factor
    assert expected > 3 * r.visible / len({row[0] for row in rows_of(r)})  # what counting values alone would say


def test_a_key_of_two_columns_from_one_place_and_from_two():
    rows = [(i % 10, i % 7, i) for i in range(210)]
    r, s = visible(3, rows), visible(2, [(i % 10, i % 7) for i in range(70)])
    a, b, other = literal("r", 3), literal("s", 2), literal("s", 2)
    known = statistics(r=r, s=s)
    assert known.fanout(a, (0, 1), [(b, 0), (b, 1)]) == pytest.approx(3)
    assert known.fanout(a, (0, 1), [(b, 0), (other, 1)]) == pytest.approx(3)
    assert known.fanout(a, (0, 1), [None, None]) == pytest.approx(3)
    assert known.fanout(a, (0,), [None]) == pytest.approx(21)


def test_values_that_never_meet_are_nearly_nothing():
    r, s = visible(1, [(i,) for i in range(100)]), visible(1, [(i,) for i in range(100, 200)])
    assert 0 < statistics(r=r, s=s).fanout(literal("r", 1), (0,), [(literal("s", 1), 0)]) < 0.01


def test_what_is_not_there_yet_is_assumed():
    a = literal("r", 2)
    for known in (statistics(), statistics(r=Relation("r", 2))):
        assert known.size(a) == known.fanout(a, (), []) == UNKNOWN_ROWS
        assert known.fanout(a, (0,), [None]) == UNKNOWN_FANOUT
        assert known.fanout(a, (0, 1), [None, None]) == 1


def test_the_part_of_rows_that_stands_elsewhere():
    r, few = visible(2, [(i, i % 100) for i in range(5000)]), visible(1, [(i,) for i in range(25)])
    known = statistics()
    assert known.presence(r, (1,), few, (0,)) == pytest.approx(0.25, abs=0.05)
    assert known.presence(r, (1,), Relation("none", 1), (0,)) == 0
    assert known.presence(Relation("none", 2), (1,), few, (0,)) == 1
    assert known.presence(None, (1,), few, (0,)) == known.presence(r, (1,), None, (0,)) == 1


@pytest.mark.parametrize("size", [1, 8, 64])
def test_sizes_of_groups(size: int):
    relation = visible(2, [(i // size, i) for i in range(40_000)])
    sampled = relation.visible / relation.sample(0, PROBED).size
    for position, expected in ((0, size), (1, 1)):
        found = statistics().group_size(relation, (position,))
        assert expected / sampled**0.5 <= found <= expected * sampled**0.5  # as good as a sample can tell
    assert statistics().group_size(Relation("none", 2), (0,)) == 1

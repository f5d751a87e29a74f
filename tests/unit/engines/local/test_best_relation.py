"""The best row of each key over rounds, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import any_int64, for_all
from tests.unit.engines.local.probing import Row, insert, probe, rows_of

from flintlog.engines.local.storage.best_relation import BestRelation
from flintlog.engines.local.storage.relation import Relation


@pytest.mark.parametrize(("arity", "position"), [(1, 0), (2, 0), (2, 1), (4, 2)])
@pytest.mark.parametrize("sign", [1, -1])
def test_rounds_of_improvements(arity: int, position: int, sign: int):
    row = st.tuples(*(any_int64 if i == position else st.integers(-1, 30) for i in range(arity)))
    rounds = st.lists(st.lists(st.lists(row, max_size=40), max_size=2), max_size=4)

    @for_all(rounds, examples=20)
    def check(rounds: list[list[list[Row]]]) -> None:
        relation = BestRelation(Relation("r", arity), position, sign)
        best: dict[Row, int] = {}
        for batches in rounds:
            before = dict(best)
            for batch in batches:
                insert(relation, batch)
                for one in batch:
                    key = one[:position] + one[position + 1 :]
                    best[key] = (min if sign > 0 else max)(best.get(key, one[position]), one[position])
            changed = {key for key in best if before.get(key) != best[key]}
            assert relation.next_round() == len(changed)
            delta = rows_of(relation, relation.delta, relation.visible)
            assert sorted(delta) == sorted(_row(key, best[key], position) for key in changed)
        settled = relation.settled()
        assert sorted(rows_of(settled)) == sorted(_row(key, value, position) for key, value in best.items())
        assert settled.visible == len(best)
        assert type(settled) is Relation

    check()


def _row(key: Row, value: int, position: int) -> Row:
    return (*key[:position], value, *key[position:])


@pytest.mark.parametrize("value", [-5, -(1 << 63)])
def test_values_that_stop_fitting_into_a_key(value: int):
    relation = BestRelation(Relation("r", 2), 1, 1)
    insert(relation, [(1, 5), (2, 6)])
    assert relation.next_round() == 2
    insert(relation, [(1 << 61, value), (2, 3), (1, 7)])
    assert relation.next_round() == 2
    assert rows_of(relation, relation.delta, relation.visible) == [(1 << 61, value), (2, 3)]
    assert rows_of(relation.settled()) == [(1, 5), (2, 3), (1 << 61, value)]


def test_an_index_has_the_rows_of_the_last_round_only():
    relation = BestRelation(Relation("r", 2), 1, 1)
    for round_ in range(3):
        insert(relation, [(round_, 10), (round_ + 10, 20)])
        assert relation.next_round() == 2
        assert probe(relation, (0,), [(round_,), (round_ - 1,)]) == [(round_, 10)]

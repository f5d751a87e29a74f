"""The best row of each key over rounds, against a dictionary."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from tests.unit.engines.local.arrays import any_int64, for_all
from tests.unit.engines.local.test_relation import Row, insert, rows_of

from flintlog.engines.local.storage.best_relation import BestRelation
from flintlog.engines.local.storage.relation import Relation


@pytest.mark.parametrize(("arity", "position"), [(1, 0), (2, 0), (2, 1), (4, 2)])
@pytest.mark.parametrize("sign", [1, -1])
def test_rounds_of_improvements(arity: int, position: int, sign: int):
    row = st.tuples(*(any_int64 if i == position else st.integers(-1, 30) for i in range(arity)))
    rounds = st.lists(st.lists(st.lists(row, max_size=40), max_size=2), max_size=4)

    @for_all(rounds, examples=60)
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


def test_its_rows_are_never_packed():
    assert not BestRelation(Relation("r", 2), 1, 1).prepare([(0, 1), (0, 1)])

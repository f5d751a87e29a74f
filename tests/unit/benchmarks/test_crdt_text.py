"""benchmarks/programs/crdt_text derives the text that a walk of the tree finds."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.benchmarks.crdt_text_by_walking import ROOT, checksum, crdt_text
from tests.unit.benchmarks.graph_search import Row
from tests.unit.benchmarks.twin import Rows, Twin

TWIN = Twin("crdt_text", crdt_text)


def random_document(seed: int, elements: int = 60) -> Rows:
    """Elements of three replicas, each hung on an older one, mostly the last; half of them removed."""
    random = Random(seed)
    counters = {0: 0, 1: 0, 2: 0}
    order: list[Row] = [ROOT]
    inserts: set[Row] = set()
    for _ in range(elements):
        node = random.choice(list(counters))
        counters[node] += random.randint(1, 2)
        parent = order[-1] if random.random() < 0.6 else random.choice(order)
        order.append((counters[node], node))
        inserts.add((counters[node], node, *parent))
    return {"Insert_input": inserts, "Remove_input": set(random.sample(order[1:], elements // 2))}


CASES = [random_document(seed) for seed in range(6)]


@pytest.mark.parametrize("facts", CASES)
def test_every_relation_equals_the_walk(facts: Rows) -> None:
    assert TWIN.differing(facts) == set()


def test_siblings_of_one_counter_are_ordered_by_replica() -> None:
    facts: Rows = {"Insert_input": {(1, 0, 0, 0), (1, 1, 0, 0), (1, 2, 0, 0)}, "Remove_input": {(1, 1)}}
    text = set(TWIN.run(facts)["NextVisible"])
    assert text == {(0, 0, 1, 2), (1, 2, 1, 0)}


def test_checksum() -> None:
    expected = checksum(crdt_text(CASES[0])["NextVisible"])
    assert set(TWIN.run(CASES[0])["Check"]) == {(expected,)}


def test_cases_reach_every_relation() -> None:
    assert TWIN.unreached(CASES) == set()


@pytest.mark.slow
@pytest.mark.parametrize("data", TWIN.data, ids=lambda data: data["name"])
def test_expected_sizes(data) -> None:
    found = crdt_text(TWIN.real_facts(data["name"]))
    assert data["sizes"] == {name: len(found[name]) for name in TWIN.printed}
    assert data["values"] == {"Check": str(checksum(found["NextVisible"]))}
